/**
 * What the engine asks of the outside: three questions, all optional, each answered by a value or a promise.
 * A value keeps the caller on the path without promises.
 *
 * Not in here: sending messages, alarms or mail (those are actuators: plugs), storage (a host saves tasks with
 * `engine.save`), clocks and randomness (engine options).
 */
export interface Ports {
  /** metadata of a resource with inherited values merged; undefined when there is no such resource */
  metadata?(resource: string): Awaitable<Readonly<Record<string, unknown>> | undefined>
  /** a tenant secret for `${vault.KEY}`; undefined when there is none */
  secret?(key: string): Awaitable<string | undefined>
  /** last stored value of a metric, for variables with `overrideByData` */
  latestValue?(resource: string, metric: string): Awaitable<unknown>
}

export type Awaitable<T> = T | PromiseLike<T>

// What plugs ask of services, for the adapters that answer
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
