SYM_CODE_START(entry_mini)
	push	%rax
	call	mini_schedule
	ret
SYM_CODE_END(entry_mini)
