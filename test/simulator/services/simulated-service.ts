/** Defines how a service takes part in the simulation: its operations, and what must hold however they interleave. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import type { Chance } from '../world/chance.ts'
import type { World } from '../world/world.ts'

/** An operation that a client can perform. */
export interface SimulatedOperation {
  /** how often the operation is drawn, relative to those of all services */
  readonly weight: number
  /** Draws the arguments. `number` is unique to each operation of a run. */
  draw(chance: Chance, number: number): JsonObject
}

/** A service during one run, and what its clients know about it. */
export interface ServiceModel {
  /** Called for each tenant, before any fault. */
  prepare?(tenant: string): Promise<void>
  /** Begins an operation, which may finish much later. */
  act(name: string, tenant: string, given: JsonObject): void
  /** Compares what clients know with what the host reports. Called when all is well and at rest. */
  verify(tenant: string): Promise<void>
}

export interface SimulatedService {
  readonly name: string
  /** for plans without a cast: takes part only if the plan contains its operations, so that old plans stay the same */
  readonly onlyWhenDrawn?: boolean
  readonly operations: Readonly<Record<string, SimulatedOperation>>
  /** probability that the service takes part in a run; default: 0.35 */
  readonly cast?: number
  /** draws separately whether it takes part, so that runs without it keep their plans */
  readonly drawnApart?: true
  /** services that must take part for this one to be useful */
  readonly livesOn?: readonly string[]
  /** host services that its operations need; absent: all */
  readonly needs?: readonly string[]
  /**
   * routes that it calls, such as `GET /api/tasks/:id`: the run's host has only these; absent: all routes, which is
   * slow
   */
  readonly asks?: readonly string[]
  /** Parts of the service that can each be left out of a run; at least one takes part. */
  readonly variants?: readonly string[]
  /** `variants`: those that take part */
  model(world: World, shared: Shared, variants: readonly string[]): ServiceModel
}

/** A message that a client sent. Times are ms since the beginning. */
export interface SentMessage {
  readonly tenant: string
  readonly resource: string
  readonly n: number
  readonly level: number
  /** epoch ms */
  readonly timestamp: number
  readonly sentAt: number
  /** attempts that may each have become a message; attempts with a key count once */
  attempts: number
  /** undefined: unknown whether the host accepted it */
  ackedAt?: number
  /** false: every attempt was refused */
  mayBeThere: boolean
}

/** An object that clients changed, with the number of changes. */
export interface ChangedObject {
  readonly tenant: string
  readonly path: string
  /** number of certain changes */
  least: number
  /** number of certain and possible changes */
  most: number
  /** ETag of its content at rest; null: deleted; undefined: not checked yet */
  etag?: string | null
}

/** What models share. */
export interface Shared {
  readonly messages: SentMessage[]
  readonly objects: ChangedObject[]
  /** names of the services that take part in the run */
  readonly services: readonly string[]
}
