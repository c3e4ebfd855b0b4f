/** What a service tells the simulator: its operations, and what must be true of it however they come together. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import type { Chance } from '../world/chance.ts'
import type { World } from '../world/world.ts'

/** What a client can do. */
export interface SimulatedOperation {
  /** how often it is drawn, among those of all services */
  readonly weight: number
  /** Its arguments; `number` is another one for each operation of a run. */
  draw(chance: Chance, number: number): JsonObject
}

/** A service in one run, and what its clients know of it. */
export interface ServiceModel {
  /** Before anything goes wrong, for each tenant. */
  prepare?(tenant: string): Promise<void>
  /** Begins an operation; its answer may come long after. */
  act(name: string, tenant: string, given: JsonObject): void
  /** All is well and at rest: what clients know is held against what the host says. */
  verify(tenant: string): Promise<void>
}

export interface SimulatedService {
  readonly name: string
  /** of plans without a cast it takes part in those alone that have operations of it: they stay what they were */
  readonly onlyWhenDrawn?: boolean
  readonly operations: Readonly<Record<string, SimulatedOperation>>
  /** probability that it takes part in a run; default: 0.35 */
  readonly cast?: number
  /** whether it takes part is drawn apart from all else, so that the plans of runs without it stay what they were */
  readonly drawnApart?: true
  /** services of the simulator without whose operations it has nothing to do */
  readonly livesOn?: readonly string[]
  /** services of the host that its operations need; absent: all that are served */
  readonly needs?: readonly string[]
  /** routes that it asks, as in `GET /api/tasks/:id`: a host of the run has no others; absent: any, which costs time */
  readonly asks?: readonly string[]
  /** What of it can take part or be left out of a run; at least one takes part. */
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
  /** attempts that may each have been taken as a message of its own; one with a key counts once */
  attempts: number
  /** undefined: nobody knows whether it was taken */
  ackedAt?: number
  /** false: every attempt was refused */
  mayBeThere: boolean
}

/** An object that clients changed, and how often. */
export interface ChangedObject {
  readonly tenant: string
  readonly path: string
  /** changes that were certainly made */
  least: number
  /** and with those of which nobody knows whether they were */
  most: number
  /** of its content, when all is at rest; null: there is none; undefined: nobody has looked */
  etag?: string | null
}

/** What models know of each other. */
export interface Shared {
  readonly messages: SentMessage[]
  readonly objects: ChangedObject[]
  /** names of those that take part in the run */
  readonly services: readonly string[]
}
