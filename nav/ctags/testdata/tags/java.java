package demo;

import java.util.List;

public class Box<T> extends Base {
	private T value;
	enum Size { SMALL, LARGE }
	interface Visitor { void visit(Box<?> b); }
	public Box(T v) { value = v; }
	public T get() {
		return value;
	}
}
