class Queue {
  constructor() { super(); }
  get size() { return items.length; }
  push(x) {
    items.push(x);
  }
}
function drain(q) {
  return q.size;
}
const LIMIT = 3;
