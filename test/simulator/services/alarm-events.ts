/** Simulates readers of alarm events that reconnect and continue after the last event they have read. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import type { World } from '../world/world.ts'
import type { ServiceModel, SimulatedService } from './simulated-service.ts'

export const alarmEvents: SimulatedService = {
  name: 'alarmEvents',
  livesOn: ['alarms'],
  needs: ['alarms'],
  asks: ['GET /alarm/events'],
  operations: {
    follow: {
      weight: 1,
      draw: (chance) => ({ staysMs: chance.of([3000, 20_000, 3_600_000]), awayMs: chance.of([500, 5000, 20_000]) }),
    },
  },
  model: (world) => new AlarmEvents(world),
}

/** ms for which a reader stays, and stays away */
interface Habits {
  readonly staysMs: number
  readonly awayMs: number
}

interface Reader {
  readonly tenant: string
  readonly ids: number[]
}

class AlarmEvents implements ServiceModel {
  readonly #world: World
  /** readers of each tenant, with the positions that they have read in order */
  readonly #read: Reader[] = []
  #isOver = false

  constructor(world: World) {
    this.#world = world
  }

  act(_name: string, tenant: string, given: JsonObject): void {
    const reader: Reader = { tenant, ids: [] }
    this.#read.push(reader)
    // not counted as client work to wait for, because it never ends
    void this.#follow(reader, given as unknown as Habits)
  }

  async #follow({ tenant, ids }: Reader, { staysMs, awayMs }: Habits): Promise<void> {
    while (!this.#isOver) {
      const last = ids.at(-1)
      const headers = { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': String(last) }) }
      const question = { method: 'GET', url: '/alarm/events', tenant, headers } as const
      const heard = (text: string): void => {
        for (const [, id] of text.matchAll(/^id: (\d+)$/gm)) {
          ids.push(Number(id))
          this.#world.counts.read++
          this.#world.tell(`${tenant} reads alarm event ${id}`)
        }
      }
      await this.#world.follow(question, heard, { left: this.#world.pause(staysMs) })
      await this.#world.pause(this.#isOver ? 0 : awayMs)
    }
  }

  async verify(tenant: string): Promise<void> {
    this.#isOver = true
    for (const reader of this.#read) {
      if (reader.tenant !== tenant) continue
      for (const [i, id] of reader.ids.entries()) {
        const before = reader.ids[i - 1]
        if (before !== undefined && id !== before + 1) {
          this.#world.find('a stream has no hole', `a reader of alarm events of ${tenant} read ${id} after ${before}`)
        }
      }
    }
    await this.#verifyEnds(tenant)
  }

  /** Checks that each reader that has read anything has also read the last event. */
  async #verifyEnds(tenant: string): Promise<void> {
    const lasts = this.#read.flatMap((one) => (one.tenant === tenant ? one.ids.slice(-1) : []))
    if (new Set(lasts).size > 1) {
      this.#world.find('a stream has no hole', `readers of alarm events of ${tenant} came to ${lasts.join(', ')}`)
    }
  }
}
