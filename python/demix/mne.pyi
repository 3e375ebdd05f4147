from typing import Any, Optional, Union

from demix import Model, _Path, _Progress, _Seed

def fit(inst: Any, picks: Any = ..., n_components: Union[int, float, None] = ..., method: str = ..., *,
        form: Optional[str] = ..., order: Optional[str] = ..., start: Union[int, float, None] = ...,
        stop: Union[int, float, None] = ..., decim: Optional[int] = ..., reject_by_annotation: bool = ...,
        max_iter: Optional[int] = ..., tol: Optional[float] = ..., random_state: _Seed = ...,
        n_jobs: Optional[int] = ..., progress: _Progress = ...) -> Any: ...
def from_model(model: Union[Model, _Path], info: Any, unit: float = ...) -> Any: ...
