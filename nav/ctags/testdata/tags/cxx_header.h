namespace ns {
class Shape {
public:
	virtual int area() = 0;
	~Shape();
};
}
