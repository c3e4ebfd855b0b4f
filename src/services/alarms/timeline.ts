/** Reconstructs the state of an alarm after each record of its history. */
import type { Alarm, AttributeChange } from './alarm-schema.ts'
import type { TimelineItem } from './contract.ts'
import { lifecycleOf } from './life-cycle.ts'

type Fields = Pick<Alarm, 'status' | 'severity' | 'lifecycle' | 'suppression' | 'text'> & {
  readonly assignee: string | null
}

/** Returns one item per record, in the order of the history. Undoes all changes first, to find the initial state. */
export function timelineOf(alarm: Alarm): readonly TimelineItem[] {
  const { id, creationTime, timestamp, source, type, history } = alarm
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
        text: others.text,
        severity: others.severity,
        status: others.status,
        lifecycle: others.lifecycle,
        suppression: others.suppression,
        ...(assignee !== null && { assignee }),
      },
    }
  })
}

function firstFields({ status, severity, lifecycle, suppression, text, assignee, history }: Alarm): Fields {
  const last: Fields = { status, severity, lifecycle, suppression, text, assignee: assignee ?? null }
  const changes = history.flatMap((record) => record.changes ?? [])
  return changes.reduceRight((after, change) => withValue(after, change, change.oldValue), last)
}

function withValue(fields: Fields, { attribute }: AttributeChange, value: string | null): Fields {
  // a state is a change of its own only if it does not follow from the status
  if (attribute === 'status') {
    const status = value as Alarm['status']
    return { ...fields, status, lifecycle: lifecycleOf({ status }) }
  }
  return Object.hasOwn(fields, attribute) ? { ...fields, [attribute]: value } : fields
}
