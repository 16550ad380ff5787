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
