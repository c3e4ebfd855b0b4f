/**
 * Defines the ports of the engine: three queries of its environment, all optional, each answered with a value or a
 * promise. A value avoids the slower path with promises.
 *
 * Not included: sending messages, alarms or mail (actuators do that through plugs), storage (a host saves tasks with
 * `task.save`), clocks and randomness (engine options).
 */
import type { Group } from './rule/rule.ts'

export interface Ports {
  /** metadata of a resource including inherited values; undefined when the resource does not exist */
  metadata?(resource: string): Awaitable<Readonly<Record<string, unknown>> | undefined>
  /** a tenant secret for `${vault.KEY}`; undefined when it does not exist */
  secret?(key: string): Awaitable<string | undefined>
  /** ids of the current members of a group; default: only groups that list their members have any */
  members?(group: Group): Awaitable<readonly string[]>
  /** last stored value of a metric, for variables with `overrideByData` */
  latestValue?(resource: string, metric: string): Awaitable<unknown>
}

export type Awaitable<T> = T | PromiseLike<T>

// Service ports of plugs, for the adapters that implement them
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
