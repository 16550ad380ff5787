interface Shape { area(): number; }
enum Color { Red, Green }
type Pair = [number, number];
export class Circle implements Shape {
  private r: number;
  area(): number {
    return this.r;
  }
}
function twice(x: number): number { return x + x; }
function shape(a: { x: number }): { y: number } {
  return { y: a.x };
}
const plain = 3
function next() {}
