'use strict';
// Listens to one row: every frame of it, a little behind.

class Listener {
  constructor(fetchFrames, rate) {
    this.fetchFrames = fetchFrames;
    this.rate = rate;
    this.row = -1;
  }
  static possible(rate) { return rate >= 3000 && rate <= 192000 && 'AudioContext' in window; }

  start(row) {
    this.stop();
    this.context = this.context || new AudioContext();
    this.context.resume();
    this.row = row;
    this.next = 0;     // seconds, of the context
    this.from = -1;    // frame
    this.peak = 0;
    this.timer = setInterval(() => this.more(), 80);
    this.more();
  }
  stop() {
    clearInterval(this.timer);
    this.row = -1;
    if (this.last) this.last.stop();
    this.last = null;
  }
  async more() {
    if (this.busy) return;
    this.busy = true;
    try {
      const row = this.row;
      const query = {step: 1, first: row, rows: 1, count: 4096};
      if (this.from >= 0) query.from = this.from;
      const part = await this.fetchFrames(query);
      if (row !== this.row || !part) return;
      this.from = part.from + part.count;
      const behind = part.end - this.from > this.rate / 2;
      if (behind) this.from = Math.floor(part.end - this.rate / 10);
      if (part.count > 0) this.play(part.values);
    } catch {
      this.stop();  // the stream is over
    } finally {
      this.busy = false;
    }
  }
  play(values) {
    const buffer = this.context.createBuffer(1, values.length, this.rate);
    const out = buffer.getChannelData(0);
    let most = 0;
    for (const v of values) most = Math.max(most, Math.abs(v) || 0);
    this.peak = Math.max(most, this.peak * Math.pow(0.9, values.length / this.rate));
    const gain = this.peak > 0 ? 0.7 / this.peak : 0;
    for (let i = 0; i < values.length; ++i) out[i] = (values[i] || 0) * gain;
    const source = this.context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.context.destination);
    const now = this.context.currentTime;
    if (this.next < now + 0.01 || this.next > now + 1) this.next = now + 0.15;
    source.start(this.next);
    this.next += buffer.duration;
    this.last = source;
    this.played = (this.played || 0) + values.length;
  }
}
