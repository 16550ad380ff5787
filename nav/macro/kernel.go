package macro

import "strings"

// kernel are the families of the Linux kernel, read from its headers (6.1, with
// the spellings of older and newer versions where they differ). The file that
// defines a family's macros stands above it.
var kernel = []Family{
	// include/linux/syscalls.h, arch/*/include/asm/syscall_wrapper.h
	{Label: "SYSCALL_DEFINE", Macros: []string{"SYSCALL_DEFINE*", "SYSCALL32_DEFINE*", "PPC32_SYSCALL_DEFINE*"}, Names: join(
		around("{1}", "sys_", "__do_sys_", "__se_sys_", "__x64_sys_", "__ia32_sys_", "__arm64_sys_", "__riscv_sys_",
			"__s390x_sys_", "__s390_sys_", "__powerpc_sys_", "__loongarch_sys_"),
		syscallMetadata)},
	{Label: "SYSCALL_DEFINE", Macros: []string{"SYSCALL_DEFINE_MAXARGS", "SYSCALL_DEFINEx"}},
	// include/linux/compat.h and the same wrappers
	{Label: "COMPAT_SYSCALL_DEFINE", Macros: []string{"COMPAT_SYSCALL_DEFINE*"}, Names: join(
		around("{1}", "compat_sys_", "__do_compat_sys_", "__se_compat_sys_", "__ia32_compat_sys_", "__x64_compat_sys_",
			"__x32_compat_sys_", "__arm64_compat_sys_", "__riscv_compat_sys_", "__s390_compat_sys_", "__s390x_compat_sys_",
			"__powerpc_compat_sys_"),
		syscallMetadata)},
	{Label: "COMPAT_SYSCALL_DEFINE", Macros: []string{"COMPAT_SYSCALL_DEFINEx"}},
	// kernel/sys_ni.c: weak stubs for what is configured out
	{Label: "COND_SYSCALL", Macros: []string{"COND_SYSCALL", "SYS_NI"}, Role: Declare, Names: around("{1}",
		"sys_", "__x64_sys_", "__ia32_sys_", "__arm64_sys_", "__riscv_sys_", "__s390x_sys_", "__s390_sys_")},
	{Label: "COND_SYSCALL", Macros: []string{"COND_SYSCALL_COMPAT", "COMPAT_SYS_NI"}, Role: Declare, Names: around("{1}",
		"compat_sys_", "__ia32_compat_sys_", "__x64_compat_sys_", "__arm64_compat_sys_", "__riscv_compat_sys_", "__s390_compat_sys_")},

	// include/linux/tracepoint.h, include/trace/trace_events.h, include/trace/bpf_probe.h, include/trace/perf.h.
	// The class is an argument of DEFINE_EVENT, and has no tracepoint of its own.
	{Label: "TRACE_EVENT", Macros: []string{"TRACE_EVENT", "TRACE_EVENT_FN", "TRACE_EVENT_FN_COND", "TRACE_EVENT_CONDITION", "TRACE_EVENT_SYSCALL", "TRACE_EVENT_WRITABLE"},
		Names: join(tracepoint, traceEvent, traceClass)},
	{Label: "TRACE_EVENT", Macros: []string{"TRACE_EVENT_NOP", "DECLARE_EVENT_NOP"}, Names: traceNop},
	{Label: "DEFINE_EVENT", Macros: []string{"DEFINE_EVENT", "DEFINE_EVENT_FN", "DEFINE_EVENT_CONDITION", "DEFINE_EVENT_WRITABLE", "DEFINE_EVENT_SCHEDSTAT"},
		Names: second(join(tracepoint, traceEvent))},
	{Label: "DEFINE_EVENT", Macros: []string{"DEFINE_EVENT_PRINT"},
		Names: second(join(tracepoint, traceEvent, []string{"trace_raw_output_{1}", "trace_event_type_funcs_{1}", "print_fmt_{1}"}))},
	{Label: "DEFINE_EVENT", Macros: []string{"DEFINE_EVENT_NOP"}, Names: second(traceNop)},
	{Label: "DECLARE_EVENT_CLASS", Macros: []string{"DECLARE_EVENT_CLASS", "DECLARE_EVENT_SYSCALL_CLASS"}, Names: traceClass},
	{Label: "DECLARE_EVENT_CLASS", Macros: []string{"DECLARE_EVENT_CLASS_NOP"}},
	{Label: "DECLARE_TRACE", Macros: []string{"DECLARE_TRACE", "DECLARE_TRACE_CONDITION", "DECLARE_TRACE_WRITABLE", "DECLARE_TRACE_EVENT", "DECLARE_TRACE_SYSCALL"},
		Names: join(tracepoint, []string{"__bpf_trace_{1}", "__bpf_trace_tp_map_{1}", "btf_trace_{1}"})},
	{Label: "DEFINE_TRACE", Macros: []string{"DEFINE_TRACE", "DEFINE_TRACE_FN", "DEFINE_TRACE_SYSCALL"}, Names: []string{"__tracepoint_{1}", "__traceiter_{1}", "__tpstrtab_{1}", "tp_func_{1}", "__SCK__tp_func_{1}", "__SCT__tp_func_{1}"}},
	{Label: "DECLARE_TRACEPOINT", Macros: []string{"DECLARE_TRACEPOINT"}, Role: Declare, Names: []string{"__tracepoint_{1}"}},
	{Label: "TRACE_CUSTOM_EVENT", Macros: []string{"TRACE_CUSTOM_EVENT"}, Names: join(customEvent, customClass)},
	{Label: "TRACE_CUSTOM_EVENT", Macros: []string{"DEFINE_CUSTOM_EVENT"}, Names: second(customEvent)},
	{Label: "TRACE_CUSTOM_EVENT", Macros: []string{"DECLARE_CUSTOM_EVENT_CLASS"}, Names: customClass},
	// Subsystems wrap DEFINE_EVENT for the events of one class: DEFINE_INODE_EVENT(xfs_iget_skip).
	{Label: "DEFINE_EVENT", Macros: []string{"DEFINE_*_EVENT"}, Names: join(tracepoint, traceEvent), Weak: true},
	{Label: "DEFINE_EVENT", Macros: []string{"DEFINE_SMB3_*_EVENT"}, Names: prefixed("smb3_", join(tracepoint, traceEvent)), Weak: true},

	// include/linux/device.h, device/bus.h, device/class.h, device/driver.h, sysfs.h, hwmon-sysfs.h
	{Label: "DEVICE_ATTR", Macros: []string{"DEVICE_ATTR", "DEVICE_ATTR_*", "DEVICE_INT_ATTR", "DEVICE_BOOL_ATTR", "DEVICE_ULONG_ATTR", "DEVICE_STRING_ATTR_RO"}, Names: []string{"dev_attr_{1}"}},
	{Label: "DRIVER_ATTR", Macros: []string{"DRIVER_ATTR", "DRIVER_ATTR_*"}, Names: []string{"driver_attr_{1}"}},
	{Label: "BUS_ATTR", Macros: []string{"BUS_ATTR", "BUS_ATTR_*"}, Names: []string{"bus_attr_{1}"}},
	{Label: "CLASS_ATTR", Macros: []string{"CLASS_ATTR", "CLASS_ATTR_*"}, Names: []string{"class_attr_{1}"}},
	{Label: "BIN_ATTR", Macros: []string{"BIN_ATTR", "BIN_ATTR_*"}, Names: []string{"bin_attr_{1}"}},
	{Label: "SENSOR_DEVICE_ATTR", Macros: []string{"SENSOR_DEVICE_ATTR", "SENSOR_DEVICE_ATTR_*"}, Names: []string{"sensor_dev_attr_{1}"}},
	{Label: "ATTRIBUTE_GROUPS", Macros: []string{"ATTRIBUTE_GROUPS", "BIN_ATTRIBUTE_GROUPS"}, Names: []string{"{1}_group", "{1}_groups"}},
	{Label: "ATTRIBUTE_GROUPS", Macros: []string{"__ATTRIBUTE_GROUPS"}, Names: []string{"{1}_groups"}},
	{Label: "CONFIGFS_ATTR", Macros: []string{"CONFIGFS_ATTR", "CONFIGFS_ATTR_*", "CONFIGFS_BIN_ATTR", "CONFIGFS_BIN_ATTR_*"}, Names: []string{"{1}attr_{2}"}},
	{Label: "IIO_DEVICE_ATTR", Macros: []string{"IIO_DEVICE_ATTR", "IIO_DEVICE_ATTR_*"}, Names: []string{"iio_dev_attr_{1}"}},
	{Label: "IIO_CONST_ATTR", Macros: []string{"IIO_CONST_ATTR", "IIO_CONST_ATTR_NAMED"}, Names: []string{"iio_const_attr_{1}"}},
	{Label: "PMU_FORMAT_ATTR", Macros: []string{"PMU_FORMAT_ATTR"}, Names: []string{"format_attr_{1}", "{1}_show"}},
	{Label: "PMU_EVENT_ATTR", Macros: []string{"PMU_EVENT_ATTR", "PMU_EVENT_ATTR_STRING"}, Names: []string{"{2}"}},

	// include/linux/seq_file.h, fs.h, debugfs.h, pm.h, pm_runtime.h
	{Label: "DEFINE_SHOW_ATTRIBUTE", Macros: []string{"DEFINE_SHOW_ATTRIBUTE", "DEFINE_SHOW_STORE_ATTRIBUTE"}, Names: []string{"{1}_open", "{1}_fops"}},
	{Label: "DEFINE_SEQ_ATTRIBUTE", Macros: []string{"DEFINE_SEQ_ATTRIBUTE"}, Names: []string{"{1}_open", "{1}_fops"}},
	{Label: "DEFINE_PROC_SHOW_ATTRIBUTE", Macros: []string{"DEFINE_PROC_SHOW_ATTRIBUTE"}, Names: []string{"{1}_open", "{1}_proc_ops"}},
	{Label: "DEFINE_SIMPLE_ATTRIBUTE", Macros: []string{"DEFINE_SIMPLE_ATTRIBUTE", "DEFINE_SIMPLE_ATTRIBUTE_*", "DEFINE_DEBUGFS_ATTRIBUTE", "DEFINE_DEBUGFS_ATTRIBUTE_*"}, Names: []string{"{1}", "{1}_open"}},
	{Label: "DEV_PM_OPS", Macros: []string{"SIMPLE_DEV_PM_OPS", "UNIVERSAL_DEV_PM_OPS", "DEFINE_*_DEV_PM_OPS", "EXPORT_*DEV_PM_OPS"}, Names: []string{"{1}"}},

	// include/linux/percpu-defs.h, arch/x86/include/asm/percpu.h: the type comes first
	{Label: "DEFINE_PER_CPU", Macros: []string{"DEFINE_PER_CPU", "DEFINE_PER_CPU_*"}, Names: []string{"{2}"}},
	{Label: "DECLARE_PER_CPU", Macros: []string{"DECLARE_PER_CPU", "DECLARE_PER_CPU_*", "DECLARE_KVM_NVHE_PER_CPU"}, Role: Declare, Names: []string{"{2}"}},
	{Label: "DEFINE_PER_CPU", Macros: []string{"DEFINE_EARLY_PER_CPU", "DEFINE_EARLY_PER_CPU_*"}, Names: []string{"{2}", "{2}_early_map", "{2}_early_ptr"}},
	{Label: "DECLARE_PER_CPU", Macros: []string{"DECLARE_EARLY_PER_CPU", "DECLARE_EARLY_PER_CPU_*"}, Role: Declare, Names: []string{"{2}", "{2}_early_map", "{2}_early_ptr"}},

	// include/linux/list.h, notifier.h, radix-tree.h, rbtree_augmented.h, interval_tree_generic.h
	{Label: "LIST_HEAD", Macros: []string{"LIST_HEAD", "HLIST_HEAD", "LLIST_HEAD", "HLIST_NULLS_HEAD", "PLIST_HEAD"}, Names: []string{"{1}"}},
	{Label: "NOTIFIER_HEAD", Macros: []string{"ATOMIC_NOTIFIER_HEAD", "BLOCKING_NOTIFIER_HEAD", "RAW_NOTIFIER_HEAD"}, Names: []string{"{1}"}},
	{Label: "NOTIFIER_HEAD", Macros: []string{"SRCU_NOTIFIER_HEAD", "SRCU_NOTIFIER_HEAD_STATIC"}, Names: []string{"{1}", "{1}_head_srcu_data"}},
	{Label: "RADIX_TREE", Macros: []string{"RADIX_TREE"}, Names: []string{"{1}"}},
	{Label: "RB_DECLARE_CALLBACKS", Macros: []string{"RB_DECLARE_CALLBACKS"}, Names: []string{"{2}", "{2}_propagate", "{2}_copy", "{2}_rotate"}},
	{Label: "RB_DECLARE_CALLBACKS", Macros: []string{"RB_DECLARE_CALLBACKS_MAX"}, Names: []string{"{2}", "{2}_propagate", "{2}_copy", "{2}_rotate", "{2}_compute_max"}},
	{Label: "INTERVAL_TREE_DEFINE", Macros: []string{"INTERVAL_TREE_DEFINE"}, Names: []string{
		"{8}_insert", "{8}_remove", "{8}_subtree_search", "{8}_iter_first", "{8}_iter_next",
		"{8}_augment", "{8}_augment_propagate", "{8}_augment_copy", "{8}_augment_rotate", "{8}_augment_compute_max"}},
	{Label: "DEFINE_RB_FUNCS", Macros: []string{"DEFINE_RB_FUNCS", "DEFINE_RB_FUNCS2"}, Names: []string{"__insert_{1}", "insert_{1}", "erase_{1}", "lookup_{1}", "__lookup_{1}_key"}},
	{Label: "DEFINE_RB_FUNCS", Macros: []string{"DEFINE_RB_INSDEL_FUNCS", "DEFINE_RB_INSDEL_FUNCS2"}, Names: []string{"__insert_{1}", "insert_{1}", "erase_{1}"}},
	{Label: "DEFINE_RB_FUNCS", Macros: []string{"DEFINE_RB_LOOKUP_FUNC", "DEFINE_RB_LOOKUP_FUNC2"}, Names: []string{"lookup_{1}", "__lookup_{1}_key"}},

	// include/linux/workqueue.h, wait.h, swait.h, completion.h, rwsem.h, interrupt.h, types.h, hashtable.h, kfifo.h,
	// crc8.h, fault-inject.h, include/sound/tlv.h: they are called DECLARE_ and define
	{Label: "DECLARE_WORK", Macros: []string{"DECLARE_WORK", "DECLARE_DELAYED_WORK", "DECLARE_DEFERRABLE_WORK"}, Names: []string{"{1}"}},
	{Label: "DECLARE_WAIT_QUEUE_HEAD", Macros: []string{"DECLARE_WAIT_QUEUE_HEAD", "DECLARE_WAIT_QUEUE_HEAD_ONSTACK", "DECLARE_WAITQUEUE", "DECLARE_SWAITQUEUE", "DECLARE_SWAIT_QUEUE_HEAD", "DECLARE_SWAIT_QUEUE_HEAD_ONSTACK"}, Names: []string{"{1}"}},
	{Label: "DECLARE_COMPLETION", Macros: []string{"DECLARE_COMPLETION", "DECLARE_COMPLETION_*"}, Names: []string{"{1}"}},
	{Label: "DECLARE_RWSEM", Macros: []string{"DECLARE_RWSEM"}, Names: []string{"{1}"}},
	{Label: "DECLARE_TASKLET", Macros: []string{"DECLARE_TASKLET", "DECLARE_TASKLET_*"}, Names: []string{"{1}"}},
	{Label: "DECLARE_BITMAP", Macros: []string{"DECLARE_BITMAP", "DECLARE_PHY_INTERFACE_MASK", "DECLARE_HASHTABLE", "DECLARE_KFIFO", "DECLARE_KFIFO_PTR", "DECLARE_CRC8_TABLE", "DECLARE_FAULT_ATTR", "DECLARE_CRYPTO_WAIT", "DECLARE_TRANSPORT_CLASS", "DECLARE_TLV_DB_*", "SNDRV_CTL_TLVD_DECLARE_DB_*"}, Names: []string{"{1}"}},
	{Label: "DECLARE_FLEX_ARRAY", Macros: []string{"DECLARE_FLEX_ARRAY", "DEFINE_FLEX", "DEFINE_RAW_FLEX", "DEFINE_SNMP_STAT", "DEFINE_SNMP_STAT_ATOMIC", "DEFINE_VVAR"}, Names: []string{"{2}"}},
	{Label: "DECLARE_EWMA", Macros: []string{"DECLARE_EWMA"}, Names: []string{"ewma_{1}", "ewma_{1}_init", "ewma_{1}_read", "ewma_{1}_add"}},

	// include/linux/static_call.h, jump_label.h, srcu.h, percpu-rwsem.h, rcupdate.h, cleanup.h
	{Label: "DEFINE_STATIC_CALL", Macros: []string{"DEFINE_STATIC_CALL", "DEFINE_STATIC_CALL_NULL", "DEFINE_STATIC_CALL_RET0"}, Names: []string{"{1}", "__SCK__{1}", "__SCT__{1}"}},
	{Label: "DECLARE_STATIC_CALL", Macros: []string{"DECLARE_STATIC_CALL"}, Role: Declare, Names: []string{"{1}", "__SCK__{1}", "__SCT__{1}"}},
	{Label: "DEFINE_STATIC_KEY", Macros: []string{"DEFINE_STATIC_KEY_MAYBE", "DEFINE_STATIC_KEY_MAYBE_RO"}, Names: []string{"{2}"}},
	{Label: "DECLARE_STATIC_KEY", Macros: []string{"DECLARE_STATIC_KEY_MAYBE"}, Role: Declare, Names: []string{"{2}"}},
	{Label: "DEFINE_SRCU", Macros: []string{"DEFINE_SRCU", "DEFINE_STATIC_SRCU"}, Names: []string{"{1}", "{1}_srcu_data"}},
	{Label: "DEFINE_FREE", Macros: []string{"DEFINE_FREE"}, Names: []string{"__free_{1}"}},
	{Label: "DEFINE_CLASS", Macros: []string{"DEFINE_CLASS", "EXTEND_CLASS", "DEFINE_GUARD", "DEFINE_LOCK_GUARD_0", "DEFINE_LOCK_GUARD_1"}, Names: []string{"class_{1}_t", "class_{1}_constructor", "class_{1}_destructor"}},

	// arch/x86/include/asm/idtentry.h
	{Label: "DEFINE_IDTENTRY", Macros: []string{"DEFINE_IDTENTRY", "DEFINE_IDTENTRY_ERRORCODE", "DEFINE_IDTENTRY_IRQ"}, Names: []string{"{1}", "__{1}"}},
	{Label: "DEFINE_IDTENTRY", Macros: []string{"DEFINE_IDTENTRY_SYSVEC", "DEFINE_IDTENTRY_SYSVEC_SIMPLE"}, Names: []string{"{1}", "__{1}", "instr_{1}", "fred_{1}"}},
	{Label: "DEFINE_IDTENTRY", Macros: []string{"DEFINE_IDTENTRY_RAW", "DEFINE_IDTENTRY_RAW_ERRORCODE", "DEFINE_IDTENTRY_DF", "DEFINE_IDTENTRY_IST", "DEFINE_IDTENTRY_MCE", "DEFINE_IDTENTRY_DEBUG"}, Names: []string{"{1}"}},
	{Label: "DEFINE_IDTENTRY", Macros: []string{"DEFINE_IDTENTRY_NOIST", "DEFINE_IDTENTRY_MCE_USER", "DEFINE_IDTENTRY_DEBUG_USER"}, Names: []string{"noist_{1}"}},
	{Label: "DEFINE_IDTENTRY", Macros: []string{"DEFINE_IDTENTRY_VC_KERNEL"}, Names: []string{"kernel_{1}"}},
	{Label: "DEFINE_IDTENTRY", Macros: []string{"DEFINE_IDTENTRY_VC_USER"}, Names: []string{"user_{1}"}},
	{Label: "DEFINE_IDTENTRY", Macros: []string{"DEFINE_FREDENTRY*"}, Names: []string{"fred_{1}"}},
	// The assembly half of these headers makes asm_… of the same lines.
	{Label: "DECLARE_IDTENTRY", Macros: []string{"DECLARE_IDTENTRY", "DECLARE_IDTENTRY_*"}, Names: []string{"asm_{2}", "xen_asm_{2}"}},
	{Label: "DECLARE_IDTENTRY", Macros: []string{"DECLARE_IDTENTRY", "DECLARE_IDTENTRY_*"}, Role: Declare, Names: []string{"{2}"}},

	// include/linux/page-flags.h, buffer_head.h
	{Label: "PAGEFLAG", Macros: []string{"TESTPAGEFLAG", "TESTPAGEFLAG_FALSE"}, Names: pageTest},
	{Label: "PAGEFLAG", Macros: []string{"SETPAGEFLAG", "SETPAGEFLAG_NOOP"}, Names: pageSet},
	{Label: "PAGEFLAG", Macros: []string{"CLEARPAGEFLAG", "CLEARPAGEFLAG_NOOP"}, Names: pageClear},
	{Label: "PAGEFLAG", Macros: []string{"__SETPAGEFLAG"}, Names: pageSetNonatomic},
	{Label: "PAGEFLAG", Macros: []string{"__CLEARPAGEFLAG", "__CLEARPAGEFLAG_NOOP"}, Names: pageClearNonatomic},
	{Label: "PAGEFLAG", Macros: []string{"TESTSETFLAG", "TESTSETFLAG_FALSE"}, Names: pageTestSet},
	{Label: "PAGEFLAG", Macros: []string{"TESTCLEARFLAG", "TESTCLEARFLAG_FALSE"}, Names: pageTestClear},
	{Label: "PAGEFLAG", Macros: []string{"PAGEFLAG", "PAGEFLAG_FALSE"}, Names: join(pageTest, pageSet, pageClear)},
	{Label: "PAGEFLAG", Macros: []string{"__PAGEFLAG"}, Names: join(pageTest, pageSetNonatomic, pageClearNonatomic)},
	{Label: "PAGEFLAG", Macros: []string{"TESTSCFLAG", "TESTSCFLAG_FALSE"}, Names: join(pageTestSet, pageTestClear)},
	{Label: "PAGE_TYPE_OPS", Macros: []string{"PAGE_TYPE_OPS"}, Names: []string{"Page{1}", "__SetPage{1}", "__ClearPage{1}"}},
	{Label: "BUFFER_FNS", Macros: []string{"BUFFER_FNS"}, Names: []string{"set_buffer_{2}", "clear_buffer_{2}", "buffer_{2}"}},
	{Label: "BUFFER_FNS", Macros: []string{"TAS_BUFFER_FNS"}, Names: []string{"test_set_buffer_{2}", "test_clear_buffer_{2}"}},

	// include/linux/filter.h, btf_ids.h, bpf.h
	{Label: "BPF_CALL", Macros: []string{"BPF_CALL_*", "NOTRACE_BPF_CALL_*"}, Names: []string{"{1}", "____{1}", "btf_{1}"}},
	{Label: "BPF_CALL", Macros: []string{"BPF_CALL_x"}},
	{Label: "BTF_ID_LIST", Macros: []string{"BTF_ID_LIST", "BTF_ID_LIST_*", "BTF_SET_START", "BTF_SET8_START", "BTF_KFUNCS_START"}, Names: []string{"{1}"}},
	{Label: "DEFINE_BPF_DISPATCHER", Macros: []string{"DEFINE_BPF_DISPATCHER"}, Names: []string{"bpf_dispatcher_{1}", "bpf_dispatcher_{1}_func", "bpf_dispatcher_{1}_call"}},
	{Label: "DEFINE_BPF_ITER_FUNC", Macros: []string{"DEFINE_BPF_ITER_FUNC"}, Names: []string{"bpf_iter_{1}"}},
	{Label: "DECLARE_BPF_DISPATCHER", Macros: []string{"DECLARE_BPF_DISPATCHER"}, Role: Declare, Names: []string{"bpf_dispatcher_{1}", "bpf_dispatcher_{1}_func"}},

	// include/linux/moduleparam.h, device/driver.h, lsm_hooks.h, kernel/sched/sched.h, drivers/pinctrl
	{Label: "module_param", Macros: []string{"module_param*", "core_param*"}, Names: []string{"{1}", "__param_{1}"}, Weak: true},
	{Label: "module_driver", Macros: []string{"module_*driver", "builtin_*driver", "drm_module_*_driver", "drm_module_*_driver_if_modeset"}, Names: []string{"{1}_init", "{1}_exit"}},
	{Label: "MODULE_DEVICE_TABLE", Macros: []string{"MODULE_DEVICE_TABLE"}, Names: []string{"__mod_{1}__{2}_device_table"}},
	{Label: "DEFINE_LSM", Macros: []string{"DEFINE_LSM"}, Names: []string{"__lsm_{1}"}},
	{Label: "DEFINE_LSM", Macros: []string{"DEFINE_EARLY_LSM"}, Names: []string{"__early_lsm_{1}"}},
	{Label: "DEFINE_SCHED_CLASS", Macros: []string{"DEFINE_SCHED_CLASS"}, Names: []string{"{1}_sched_class"}},
	{Label: "DECLARE_MSM_GPIO_PINS", Macros: []string{"DECLARE_MSM_GPIO_PINS", "DECLARE_APQ_GPIO_PINS", "DECLARE_IPQ_GPIO_PINS", "DECLARE_QCA_GPIO_PINS"}, Names: []string{"gpio{1}_pins"}},
	{Label: "INDIRECT_CALLABLE_DECLARE", Macros: []string{"INDIRECT_CALLABLE_DECLARE"}},

	// arch/*/include/asm/linkage.h, include/linux/linkage.h, include/linux/cfi_types.h: assembly
	{Label: "SYM_START", Macros: []string{"SYM_FUNC_START", "SYM_FUNC_START_*", "SYM_CODE_START", "SYM_CODE_START_*", "SYM_DATA_START", "SYM_DATA_START_*", "SYM_TYPED_FUNC_START", "SYM_INNER_LABEL", "SYM_INNER_LABEL_ALIGN", "SYM_DATA", "SYM_DATA_LOCAL", "SYM_START", "SYM_FUNC_ALIAS", "SYM_FUNC_ALIAS_WEAK", "SYM_FUNC_ALIAS_LOCAL"}, Names: []string{"{1}"}},
	{Label: "ENTRY", Macros: []string{"ENTRY", "WEAK", "GLOBAL", "SYM_ENTRY", "_GLOBAL", "_GLOBAL_TOC", "NESTED", "LEAF", "FEXPORT"}, Names: []string{"{1}"}, Files: ".S"},

	// Any other DEFINE_ and DECLARE_: the first argument, as a rule.
	{Label: "DEFINE_*", Macros: []string{"DEFINE_*"}, Names: []string{"{1}"}, Weak: true},
	{Label: "DECLARE_*", Macros: []string{"DECLARE_*"}, Role: Declare, Names: []string{"{1}"}, Weak: true},
	// include/linux/kprobes.h, raid_class.h, ceph/ceph_features.h, ceph/msgr.h
	{Label: "DEFINE_INSN_CACHE_OPS", Macros: []string{"DEFINE_INSN_CACHE_OPS"}, Names: []string{"get_{1}_slot", "free_{1}_slot", "is_kprobe_{1}_slot"}},
	{Label: "DEFINE_RAID_ATTRIBUTE", Macros: []string{"DEFINE_RAID_ATTRIBUTE"}, Names: []string{"raid_set_{2}", "raid_get_{2}"}},
	{Label: "DEFINE_CEPH_FEATURE", Macros: []string{"DEFINE_CEPH_FEATURE"}, Names: []string{"CEPH_FEATURE_{3}", "CEPH_FEATUREMASK_{3}"}},
	{Label: "DEFINE_CEPH_FEATURE", Macros: []string{"DEFINE_CEPH_FEATURE_DEPRECATED", "DEFINE_CEPH_FEATURE_RETIRED"}, Names: []string{"DEPRECATED_CEPH_FEATURE_{3}", "DEPRECATED_CEPH_FEATUREMASK_{3}"}},
	{Label: "DEFINE_MSGR2_FEATURE", Macros: []string{"DEFINE_MSGR2_FEATURE"}, Names: []string{"CEPH_MSGR2_FEATURE_{3}", "CEPH_MSGR2_FEATUREMASK_{3}"}},
	// But these are expressions, or their first argument is something else.
	{Label: "DEFINE_RES", Macros: []string{"DEFINE_RES_*", "DEFINE_PARTS", "DEFINE_FIELD", "DEFINE_DROP_REASON", "DEFINE_CLK_*", "DEFINE_EVENT_*"}},
	{Label: "DECLARE_PCI_FIXUP", Macros: []string{"DECLARE_PCI_FIXUP_*", "DECLARE_ARGS", "DECLARE_SOCKADDR", "DECLARE_UVERBS_*", "DECLARE_REG", "DECLARE_VVAR", "DECLARE_LIBBPF_OPTS"}},

	// include/linux/export.h, percpu-defs.h, tracepoint.h, static_call.h and the wrappers of subsystems
	{Label: "EXPORT_SYMBOL", Macros: []string{"EXPORT_SYMBOL", "EXPORT_SYMBOL_*", "EXPORT_DATA_SYMBOL", "EXPORT_DATA_SYMBOL_GPL", "EXPORT_UNUSED_SYMBOL", "EXPORT_UNUSED_SYMBOL_GPL",
		"EXPORT_PER_CPU_SYMBOL", "EXPORT_PER_CPU_SYMBOL_GPL", "EXPORT_EARLY_PER_CPU_SYMBOL", "EXPORT_INDIRECT_CALLABLE", "*_EXPORT_SYMBOL", "*_EXPORT_SYMBOL_GPL", "ACPI_EXPORT_SYMBOL_INIT"}, Role: Export, Names: []string{"{1}"}},
	{Label: "EXPORT_SYMBOL", Macros: []string{"_EXPORT_SYMBOL", "__EXPORT_SYMBOL", "___EXPORT_SYMBOL"}},
	{Label: "EXPORT_TRACEPOINT_SYMBOL", Macros: []string{"EXPORT_TRACEPOINT_SYMBOL", "EXPORT_TRACEPOINT_SYMBOL_GPL"}, Role: Export, Names: []string{"__tracepoint_{1}", "__traceiter_{1}", "trace_{1}"}},
	{Label: "EXPORT_STATIC_CALL", Macros: []string{"EXPORT_STATIC_CALL*"}, Role: Export, Names: []string{"{1}", "__SCK__{1}", "__SCT__{1}"}},
	// include/linux/init.h, module.h
	{Label: "module_init", Macros: []string{"module_init", "module_exit", "*_initcall", "*_initcall_sync", "__initcall", "__exitcall"}, Role: Init, Names: []string{"{1}"}},
	{Label: "early_param", Macros: []string{"__setup", "early_param"}, Role: Init, Names: []string{"{2}"}},
}

// What a tracepoint consists of, what a trace event has beside it, and what the
// events of one class share.
var (
	tracepoint = []string{
		"trace_{1}", "trace_{1}_enabled", "trace_{1}_rcuidle", "register_trace_{1}", "register_trace_prio_{1}", "unregister_trace_{1}",
		"check_trace_callback_type_{1}", "__tracepoint_{1}", "__traceiter_{1}", "__tpstrtab_{1}", "tp_func_{1}", "__SCK__tp_func_{1}", "__SCT__tp_func_{1}",
	}
	traceNop   = []string{"trace_{1}", "trace_{1}_enabled"}
	traceEvent = []string{"event_{1}", "__event_{1}", "ftrace_test_probe_{1}", "perf_test_probe_{1}", "bpf_test_probe_{1}", "btf_trace_{1}", "__bpf_trace_tp_map_{1}"}
	traceClass = []string{
		"event_class_{1}", "trace_event_raw_{1}", "trace_event_data_offsets_{1}", "trace_raw_output_{1}", "trace_event_type_funcs_{1}",
		"trace_event_fields_{1}", "trace_event_get_offsets_{1}", "trace_event_raw_event_{1}", "do_trace_event_raw_event_{1}", "perf_trace_{1}",
		"print_fmt_{1}", "__bpf_trace_{1}",
	}
	customEvent = []string{"custom_event_{1}", "__custom_event_{1}", "trace_custom_event_{1}_update", "ftrace_test_custom_probe_{1}"}
	customClass = []string{
		"custom_event_class_{1}", "trace_custom_event_raw_{1}", "trace_custom_event_data_offsets_{1}", "trace_custom_raw_output_{1}", "trace_custom_event_type_funcs_{1}",
		"trace_custom_event_fields_{1}", "trace_custom_event_get_offsets_{1}", "trace_custom_event_raw_event_{1}", "custom_print_fmt_{1}",
	}
	syscallMetadata = around("_{1}", "__syscall_meta_", "__p_syscall_meta_", "event_enter_", "__event_enter_", "event_exit_", "__event_exit_", "types_", "args_")
)

// What page flags have, by page and by folio.
var (
	pageTest           = []string{"Page{1}", "folio_test_{2}"}
	pageSet            = []string{"SetPage{1}", "folio_set_{2}"}
	pageClear          = []string{"ClearPage{1}", "folio_clear_{2}"}
	pageSetNonatomic   = []string{"__SetPage{1}", "__folio_set_{2}"}
	pageClearNonatomic = []string{"__ClearPage{1}", "__folio_clear_{2}"}
	pageTestSet        = []string{"TestSetPage{1}", "folio_test_set_{2}"}
	pageTestClear      = []string{"TestClearPage{1}", "folio_test_clear_{2}"}
)

// join makes one list of several.
func join(lists ...[]string) (all []string) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// around puts each prefix before the stem.
func around(stem string, prefixes ...string) (names []string) {
	for _, p := range prefixes {
		names = append(names, p+stem)
	}
	return names
}

// second is the same names, of the second argument.
func second(names []string) []string { return replace(names, "{2}") }

// prefixed is the same names, of the first argument with a prefix.
func prefixed(prefix string, names []string) []string { return replace(names, prefix+"{1}") }

func replace(names []string, arg string) (out []string) {
	for _, n := range names {
		out = append(out, strings.ReplaceAll(n, "{1}", arg))
	}
	return out
}
