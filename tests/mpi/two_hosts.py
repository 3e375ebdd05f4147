"""Two hosts on this machine: network namespaces with addresses and names of their own, a link between them.

As root, with iproute2. The link can be shaped: `Hosts(rate="1gbit")`.
"""
import contextlib
import os
import pathlib
import subprocess
import tempfile


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


class Hosts:
    """with Hosts() as hosts: hosts.mpirun(1, ...) starts so many ranks on each."""

    def __init__(self, rate=None):
        self.names = [f"demix-{os.getpid()}-{side}" for side in "ab"]
        self.addresses = ["10.213.7.1", "10.213.7.2"]
        self.rate = rate

    def __enter__(self):
        self.stack = contextlib.ExitStack()
        with self.stack:
            self.folder = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
            for name in self.names:
                ip("netns", "add", name)
                self.stack.callback(ip, "netns", "del", name)
            a, b = self.names
            ip("link", "add", "eth0", "netns", a, "type", "veth", "peer", "name", "eth0", "netns", b)
            for name, address in zip(self.names, self.addresses):
                ip("-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
                for link in ("lo", "eth0"):
                    ip("-n", name, "link", "set", link, "up")
                if self.rate:
                    subprocess.run(["tc", "-n", name, "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", self.rate,
                                    "burst", "256k", "latency", "50ms"], check=True)
            # What mpirun starts on another host by: AGENT HOST COMMAND...
            self.agent = self.folder / "agent"
            self.agent.write_text("#!/bin/sh\n"
                                  f'case "$1" in {self.addresses[0]}) host={a};; *) host={b};; esac\n'
                                  "shift\n"
                                  'exec ip netns exec "$host" unshare --uts sh -c "hostname $host; $*"\n')
            self.agent.chmod(0o755)
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, *error):
        self.stack.close()

    def mpirun(self, ranks_on_each, *command):
        """The command line."""
        words = ["mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "plm_rsh_agent", str(self.agent),
                 "--mca", "btl_tcp_if_include", "eth0", "--mca", "oob_tcp_if_include", "eth0", "--map-by", "node",
                 "-n", str(ranks_on_each * len(self.addresses)),
                 "--host", ",".join(f"{address}:{ranks_on_each}" for address in self.addresses), *map(str, command)]
        return ["ip", "netns", "exec", self.names[0], "unshare", "--uts", "sh", "-c",
                f'hostname {self.names[0]}; exec "$@"', "sh", *words]
