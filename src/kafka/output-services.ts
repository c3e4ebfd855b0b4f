/** The services of plugs in a worker: what rules raise, send and command becomes records of the current transaction. */
import type { AlarmPort, DataPort, PlugServices } from '#core'
import type { Cause, PlainObject } from '#core/spi'
import { AppError, MAX_HOPS } from '#kernel'
import type { AlarmRecord, CommandRecord, MessageRecord } from './contract.ts'
import { HEADERS } from './contract.ts'
import type { NewRecord } from './log.ts'

/** The partition that applies an input at the moment. */
export interface OutputTarget {
  /** epoch ms of its clock */
  readonly now: number
  /** `partition/offset` of the input */
  readonly origin: string
  emit(record: NewRecord): void
}

/** Plugs that only use these services, so that their calls end within the slice. */
export const PLUGS_WITH_OUTPUTS: ReadonlySet<string> = new Set([
  'createAlarm',
  'clearAlarm',
  'updateAlarm',
  'storeMessage',
  'forwardMessage',
  'executeCommand',
])

/**
 * Returns the cause with what began its chain: for a device's message the input itself, since an engine shares the ids
 * that it would use among tasks, of which some may have been restored.
 */
export function rooted<T extends { readonly hops: number; readonly root?: string }>(cause: T, origin: string): T {
  return cause.hops > 1 ? cause : { ...cause, root: origin }
}

export function outputServices(target: () => OutputTarget): PlugServices {
  return { alarms: alarmPort(target), data: dataPort(target) }
}

function alarmPort(target: () => OutputTarget): AlarmPort {
  const emit = (key: string, record: AlarmRecord): void => {
    requireHops(record.cause)
    const { origin } = target()
    const value = JSON.stringify({ ...record, cause: rooted(record.cause, origin) })
    target().emit({ topic: 'alarms', key, value })
  }
  return {
    raise: async (alarm, cause) => {
      const time = target().now
      emit(alarm.source, { op: 'raise', ...alarm, time, cause })
      const { source, properties, ...about } = alarm
      const at = new Date(time).toISOString()
      return { ...properties, ...about, id: cause.effect, source: { id: source }, status: 'ACTIVE', creationTime: at }
    },
    update: async (id, change, cause) => {
      emit(id, { op: 'update', id, change: { ...change }, time: target().now, cause })
      return { id, ...change }
    },
    clear: async (source, type, cause) => {
      emit(source, { op: 'clear', source, type, time: target().now, cause })
      return []
    },
    latest: async () => notHere('alarms'),
    find: async () => notHere('alarms'),
  }
}

function dataPort(target: () => OutputTarget): DataPort {
  return {
    post: async (resource, message, { store, forward }, caused) => {
      requireHops(caused)
      const { emit, now: time, origin } = bound(target())
      const cause = rooted(caused, origin)
      if (store) emit('messages', resource, { resource, message, time, cause } satisfies MessageRecord)
      if (!forward) return
      const headers = {
        [HEADERS.hops]: String(cause.hops),
        ...(cause.root !== undefined && { [HEADERS.root]: cause.root }),
      }
      target().emit({ topic: 'in', key: resource, value: JSON.stringify(message), headers })
    },
    command: async (resource, command, cause) => {
      requireHops(cause)
      const { emit, now: time, origin } = bound(target())
      emit('commands', resource, { resource, command, time, cause: rooted(cause, origin) } satisfies CommandRecord)
      return { ...command, resource }
    },
    messages: async () => notHere('messages'),
    latest: async () => notHere('messages'),
    series: async () => notHere('series'),
  }
}

function bound(target: OutputTarget) {
  return {
    now: target.now,
    origin: target.origin,
    emit: (topic: NewRecord['topic'], key: string, value: PlainObject) =>
      target.emit({ topic, key, value: JSON.stringify(value) }),
  }
}

function requireHops({ hops, node, task }: Cause): void {
  if (hops <= MAX_HOPS) return
  const text = `${hops} rules in a row triggered each other, more than ${MAX_HOPS}, the last one at node ${node} of task ${task}`
  throw new AppError('PLUG_FAILED', text)
}

function notHere(what: string): never {
  throw new AppError('PLUG_FAILED', `stored ${what} are not available in a worker; run this task on a host`)
}
