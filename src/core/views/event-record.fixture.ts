import type { z } from 'zod'
import type { LogRecord } from '../log/event.ts'
import { eventRecordView, shownPayload } from './log.ts'
import { shown } from './members.ts'

const showRecord = shown(eventRecordView.omit({ verified: true, commands: true }))

/** The members that `eventRecordText` writes. */
export const viewEventRecord = (record: LogRecord): z.infer<typeof eventRecordView> => ({
  ...showRecord({ ...record, payload: shownPayload(record) }),
  ...(record.commands === null ? {} : { commands: record.commands }),
})
