/** Reconstructs the state of an alarm after each record of its history. */
import type { Alarm, AttributeChange } from './alarm-schema.ts'
import type { TimelineItem } from './contract.ts'

type Fields = Pick<Alarm, 'status' | 'severity'> & { readonly assignee: string | null }

/** Returns one item per record, in the order of the history. Undoes all changes first, to find the initial state. */
export function timelineOf(alarm: Alarm): readonly TimelineItem[] {
  const { id, creationTime, timestamp, source, type, text, history } = alarm
  let fields = firstFields(alarm)
  return history.map((record) => {
    fields = (record.changes ?? []).reduce((before, change) => withValue(before, change, change.newValue), fields)
    const { assignee, ...others } = fields
    return {
      timestamp: Date.parse(record.timestamp),
      type: record.type,
      alarm: {
        id,
        creationTime,
        timestamp,
        source,
        type,
        text,
        severity: others.severity,
        status: others.status,
        ...(assignee !== null && { assignee }),
      },
    }
  })
}

function firstFields({ status, severity, assignee, history }: Alarm): Fields {
  const last: Fields = { status, severity, assignee: assignee ?? null }
  const changes = history.flatMap((record) => record.changes ?? [])
  return changes.reduceRight((after, change) => withValue(after, change, change.oldValue), last)
}

function withValue(fields: Fields, { attribute }: AttributeChange, value: string | null): Fields {
  return Object.hasOwn(fields, attribute) ? { ...fields, [attribute]: value } : fields
}
