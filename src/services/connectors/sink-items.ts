/** What sinks send: messages and commands from the log of the tenant, and events from the log of alarms. */
import { isPlainObject, type JsonObject, type StartTimer } from '#kernel'
import { messagesOfEntry } from '#log'
import type { TaskFiring } from '#services/rules/contract'
import type { Log } from '#storage'
import type { SinkDocument } from './connector-schema.ts'

export interface Item {
  /** the same in every repetition */
  readonly id: string
  readonly resource: string
  /** of an alarm */
  readonly type?: string
  /** id of the task that caused it */
  readonly rule?: string
  /** epoch ms */
  readonly time: number
  readonly value: JsonObject
}

export interface Portion {
  readonly items: readonly Item[]
  /** where the next portion begins */
  readonly place: number
  /** entries that were removed before they were read */
  readonly missed: number
}

export interface ItemFeed {
  /** Resolves with the items after a place once there are some; with undefined when the signal aborts. */
  next(after: number, signal: AbortSignal): Promise<Portion | undefined>
  /** how many entries follow a place; undefined: unknown */
  behind(place: number): number | undefined
}

const PORTION = 500
/** Interval between looks at the end of a log that wakes its readers, in ms; for entries of other processes */
const LONG_LOOK_MS = 250
/** Interval between looks at the end of another log, in ms */
const LOOK_MS = 50

export interface FollowedLog {
  readonly log: Pick<Log, 'read' | 'bounds'>
  /** the last entry; cheap */
  readonly last: () => number
  /** Returns the items of an entry. */
  readonly itemsOf: (body: unknown, position: number) => readonly Item[]
  readonly later: StartTimer
  /** Calls `wake` once after the log has grown; returns a function that cancels it. Absent: the log is polled */
  readonly onceGrown?: (wake: () => void) => () => void
}

export function logFeed({ log, last, itemsOf, later, onceGrown }: FollowedLog): ItemFeed {
  const pause = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const end = (): void => {
        signal.removeEventListener('abort', end)
        cancel()
        unlisten?.()
        resolve()
      }
      const unlisten = onceGrown?.(end)
      const cancel = later(onceGrown === undefined ? LOOK_MS : LONG_LOOK_MS, end)
      signal.addEventListener('abort', end)
    })
  return {
    behind: (place) => Math.max(0, last() - place),
    next: async (after, signal) => {
      while (!signal.aborted) {
        if (last() <= after) {
          await pause(signal)
          continue
        }
        const entries = await log.read(after, PORTION)
        const [first] = entries
        const end = entries.at(-1)
        if (first === undefined || end === undefined) {
          await pause(signal)
          continue
        }
        const items = entries.flatMap(({ position, body }) => itemsOf(body, position))
        return { items, place: end.position, missed: first.position - after - 1 }
      }
      return undefined
    },
  }
}

/** `channel`: the messages or commands of a log entry. */
export function itemsOfEntry(channel: 'events' | 'commands') {
  return (body: unknown, position: number): readonly Item[] => {
    const kind = channel === 'events' ? 'message' : 'command'
    return [...messagesOfEntry(body as JsonObject)].flatMap(
      ({ channel: of, resource, message }, i): readonly Item[] => {
        if (of !== channel) return []
        const value = { resource, ...message } as JsonObject
        return [{ id: `${kind} ${position}.${i}`, resource, time: Number(message['timestamp']), value }]
      },
    )
  }
}

export function itemOfAlarmEvent(body: unknown, position: number): readonly Item[] {
  if (!isPlainObject(body) || !isPlainObject(body['alarm'])) return []
  const { eventtype, eventtime, alarm, changes } = body
  const { source, type } = alarm as { readonly source?: { readonly id: string }; readonly type?: string }
  return [
    {
      id: `alarm event ${position}`,
      resource: source?.id ?? '',
      type: String(type),
      time: Date.parse(String(eventtime)),
      value: { eventtype, eventtime, alarm, ...(changes !== undefined && { changes }) } as JsonObject,
    },
  ]
}

export function itemOfFiring(body: unknown): readonly Item[] {
  const { effect, task, resource, time, ...more } = body as TaskFiring
  const value: JsonObject = { effect, task, resource, time, ...more }
  return [{ id: effect, resource, rule: task, time, value }]
}

/** A criterion that an item has no value for rejects it. */
export function isSelected(item: Item, { resources, prefix, types, rules }: SinkDocument['select']): boolean {
  return (
    (resources === undefined || resources.includes(item.resource)) &&
    (prefix === undefined || item.resource.startsWith(prefix)) &&
    (types === undefined || (item.type !== undefined && types.includes(item.type))) &&
    (rules === undefined || (item.rule !== undefined && rules.includes(item.rule)))
  )
}
