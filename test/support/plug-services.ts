/** Provides services for plugs with one item of each kind, and records the requests. */
import type { Cause, PlainObject, PlugServices } from '../../src/core/plug/services.ts'

export interface Asked {
  readonly call: string
  readonly with: readonly unknown[]
  readonly cause?: Cause
}

const ALARM: PlainObject = { id: 'alarm-1', type: 'OVERHEATED', status: 'ACTIVE', severity: 'MAJOR', count: 1 }
const RESOURCE: PlainObject = { id: 'boiler-1', name: 'Boiler' }

/** `refusing`: error that rejects each call. */
export function plugServices({ refusing }: { refusing?: Error } = {}): Required<PlugServices> & {
  readonly asked: readonly Asked[]
} {
  const asked: Asked[] = []
  const answer = <T>(value: T, call: string, given: readonly unknown[], cause?: Cause): Promise<T> => {
    asked.push({ call, with: given, ...(cause && { cause }) })
    return refusing === undefined ? Promise.resolve(value) : Promise.reject(refusing)
  }
  return {
    asked,
    alarms: {
      raise: (alarm, cause) => answer(ALARM, 'raise', [alarm], cause),
      update: (id, change, cause) => answer({ ...ALARM, ...change }, 'update', [id, change], cause),
      clear: (source, type, cause) => answer([ALARM], 'clear', [source, type], cause),
      latest: (source) => answer(ALARM, 'latest', [source]),
      find: (filter) => answer({ total: 1, alarms: [ALARM] }, 'find', [filter]),
    },
    resources: {
      get: (id) => answer(RESOURCE, 'get', [id]),
      patch: (id, change, cause) => answer({ ...RESOURCE, ...change }, 'patch', [id, change], cause),
      children: (id) => answer([RESOURCE], 'children', [id]),
      find: (query) => answer([RESOURCE], 'find', [query]),
    },
    webscripts: {
      call: (request, cause) => answer({ status: 200, data: { hello: 'you' } }, 'call', [request], cause),
    },
    models: {
      predict: (request) => answer([0.25, 0.75], 'predict', [request]),
      classify: (request) =>
        answer(
          [
            ['hot', 0.75],
            ['cold', 0.25],
          ],
          'classify',
          [request],
        ),
    },
    objects: {
      get: (bucket, path) =>
        answer({ object: { bucket, path, contentType: 'text/plain' }, text: '{"limit":5}' }, 'get', [bucket, path]),
      put: (bucket, path, text, options, cause) =>
        answer({ bucket, path }, 'put', [bucket, path, text, options], cause),
    },
    queries: {
      execute: (source, options) =>
        answer(
          { columns: [{ resource: 'boiler-1', metric: 'temperature' }], rows: [[-60_000, 21]], messages: [] },
          'execute',
          [source, options],
        ),
    },
    data: {
      post: (resource, message, how, cause) => answer(undefined, 'post', [resource, message, how], cause),
      command: (resource, command, cause) =>
        answer({ ...command, timestamp: 0 }, 'command', [resource, command], cause),
      messages: (resource, limit) => answer([{ temperature: 21, timestamp: 0 }], 'messages', [resource, limit]),
      latest: (resource) => answer([{ metric: 'temperature', time: -60_000, value: 21 }], 'latest', [resource]),
      series: (query) => answer({ query, series: [[0, 21]] }, 'series', [query]),
    },
  }
}
