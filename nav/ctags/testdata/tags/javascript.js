class Queue {
  constructor() { this.items = []; }
  get size() { return this.items.length; }
  push(x) {
    this.items.push(x);
  }
}
function drain(q) {
  return q.size;
}
const LIMIT = 3;
var handlers = { open: function () {} };
