TRACE_EVENT(mini_switch,
	TP_PROTO(int prev, int next),
	TP_ARGS(prev, next)
);

DEFINE_EVENT(mini_template, mini_wakeup,
	TP_PROTO(int task),
	TP_ARGS(task)
);
