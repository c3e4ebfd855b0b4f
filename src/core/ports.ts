/** Defines what the engine asks of its environment; a value as result, not a promise, avoids the slower path. */
export interface Ports {
  metadata?(resource: string): Awaitable<Readonly<Record<string, unknown>> | undefined>
  secret?(key: string): Awaitable<string | undefined>
  latestValue?(resource: string, metric: string): Awaitable<unknown>
}

export type Awaitable<T> = T | PromiseLike<T>

export type {
  AlarmPort,
  Cause,
  DataPort,
  ModelPort,
  ObjectPort,
  PlainObject,
  PlugServices,
  QueryPort,
  ResourcePort,
  WebscriptPort,
} from './plug/services.ts'
