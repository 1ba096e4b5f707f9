import { z } from 'zod'

/** What a verification of the log found, as every surface shows it. */
export const integrityView = z.object({
  ok: z.boolean(),
  mode: z.enum(['fast', 'full']),
  checked: z.int().min(0),
  event_count: z.int().min(0),
  first_bad_id: z.string().nullable(),
  first_bad_seq: z.int().nullable(),
  reason: z.string().nullable(),
  head_seq: z.int().min(0),
  head_hash: z.string(),
  elapsed_ms: z.number().min(0),
})

export type IntegrityView = z.infer<typeof integrityView>

export const viewIntegrity = (report: IntegrityView): IntegrityView => ({
  ok: report.ok,
  mode: report.mode,
  checked: report.checked,
  event_count: report.event_count,
  first_bad_id: report.first_bad_id,
  first_bad_seq: report.first_bad_seq,
  reason: report.reason,
  head_seq: report.head_seq,
  head_hash: report.head_hash,
  elapsed_ms: report.elapsed_ms,
})
