/*
 * table.S: the table that the program carries (src/models/table), as bytes. The build
 * says where the files are (-I).
 */
	.section .rodata
	.balign 64
	.globl rcpd_table_tokenizer, rcpd_table_tokenizer_end
	.hidden rcpd_table_tokenizer, rcpd_table_tokenizer_end
rcpd_table_tokenizer:
	.incbin "tokenizer.json"
rcpd_table_tokenizer_end:
	.balign 64
	.globl rcpd_table_tensors, rcpd_table_tensors_end
	.hidden rcpd_table_tensors, rcpd_table_tensors_end
rcpd_table_tensors:
	.incbin "model.safetensors"
rcpd_table_tensors_end:
	.balign 64
	.globl rcpd_table_config, rcpd_table_config_end
	.hidden rcpd_table_config, rcpd_table_config_end
rcpd_table_config:
	.incbin "config.json"
rcpd_table_config_end:
	.section .note.GNU-stack, "", %progbits
