function templates(x) {
  const s = `} ${ f({ a: `}` }) } }`;
  const r = /[/}]\}/g;
  return x / 2 / `${x}`.length; // }
}
function after() { return '}' + "}"; }
class K extends L {
  method(a = { b: 1 }) {
    return a /* } */;
  }
  get size() {
    return 1;
  }
}
function last() {
}
