/** Provides alarms for tests of plugs: records requests and returns minimal results. */
import type { AlarmPort } from '../../src/plug.ts'

export interface Noted {
  /** name of the method, then its arguments */
  readonly asked: (readonly unknown[])[]
}

const ALARM = { id: 'alarm-1', type: 'HEAT', status: 'ACTIVE', severity: 'MAJOR', count: 1, source: { id: 'boiler-1' } }

export function sampleAlarms(answer: { readonly latest?: object; readonly total?: number } = {}): AlarmPort & Noted {
  const asked: (readonly unknown[])[] = []
  const note = <T>(value: T, ...what: readonly unknown[]): Promise<T> => {
    asked.push(what)
    return Promise.resolve(value)
  }
  return {
    asked,
    raise: (alarm, cause) => note(ALARM, 'raise', alarm, cause),
    update: (id, change, cause) => note({ ...ALARM, id, ...change }, 'update', id, change, cause),
    clear: (source, type, cause) => note([ALARM], 'clear', source, type, cause),
    latest: (source) => note('latest' in answer ? { ...answer.latest } : undefined, 'latest', source),
    find: (filter) => note({ total: answer.total ?? 0, alarms: [] }, 'find', filter),
  }
}
