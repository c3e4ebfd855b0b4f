/** Simulates commands that a resource carries out one after the other. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import type { World } from '../world/world.ts'
import type { ServiceModel, SimulatedService } from './simulated-service.ts'

const SIRENS = ['siren', 'horn'] as const
const ACTUATOR = { name: 'note', version: '1.0.0', properties: {} }

interface Sent {
  readonly tenant: string
  readonly resource: string
  readonly n: number
  readonly sentAt: number
  ackedAt?: number
  mayBeThere: boolean
}

export const commands: SimulatedService = {
  name: 'commands',
  needs: ['broker', 'rules', 'resources'],
  asks: ['POST /api/resources', 'POST /resources/:id/commands', 'GET /api/resources/:id/commands'],
  operations: {
    send: { weight: 4, draw: (chance, n) => ({ n, resource: chance.of(SIRENS) }) },
    look: { weight: 1, draw: (chance) => ({ resource: chance.of(SIRENS) }) },
  },
  model: (world) => new Commands(world),
}

class Commands implements ServiceModel {
  readonly #world: World
  readonly #sent: Sent[] = []

  constructor(world: World) {
    this.#world = world
  }

  async prepare(tenant: string): Promise<void> {
    for (const id of SIRENS) {
      const body = { id, commands: [{ ring: { actuator: ACTUATOR } }] }
      await this.#world.ask({ method: 'POST', url: '/api/resources', tenant, body })
    }
  }

  act(name: string, tenant: string, given: JsonObject): void {
    const { n, resource } = given as { n: number; resource: string }
    const world = this.#world
    if (name === 'look') {
      const url = `/api/resources/${resource}/commands`
      world.work(`commands ${tenant}`, async () => void (await world.ask({ method: 'GET', url, tenant })))
      return
    }
    const one: Sent = { tenant, resource, n, sentAt: world.now, mayBeThere: false }
    this.#sent.push(one)
    world.work(`command ${n}`, async () => {
      const body = { name: 'ring', n }
      const { kind } = await world.ask({ method: 'POST', url: `/resources/${resource}/commands`, tenant, body })
      one.mayBeThere = kind !== 'refused'
      if (kind === 'answered') one.ackedAt = world.now
    })
  }

  async verify(tenant: string): Promise<void> {
    for (const resource of SIRENS) {
      const sent = this.#sent.filter((one) => one.tenant === tenant && one.resource === resource)
      const url = `/api/resources/${resource}/commands?hits=1000`
      const answer = await this.#world.look({ method: 'GET', url, tenant })
      const { total = 0 } = answer.body as { total?: number }
      this.#verifySent(sent, total, `${tenant} ${resource}`)
    }
  }

  /** `logged`: how many commands the host reports as carried out. */
  #verifySent(sent: readonly Sent[], logged: number, name: string): void {
    const world = this.#world
    const find = (text: string): void => world.find('commands are carried out', `${name}: ${text}`)
    const acked = sent.filter(({ ackedAt }) => ackedAt !== undefined)
    const most = sent.filter(({ mayBeThere }) => mayBeThere).length
    if (logged < acked.length || logged > most) {
      find(`${logged} commands are logged; from ${acked.length} to ${most} would be right`)
    }
    const calls = new Map(sent.map(({ n }) => [n, world.notes.list.filter((note) => note.n === n)]))
    for (const { n, mayBeThere } of sent) {
      const ofIt = calls.get(n) ?? []
      if (ofIt.length > 0 && !mayBeThere) find(`${n} was refused, and carried out`)
      const lives = ofIt.flatMap(({ life, doneAt }) => (doneAt === undefined ? [] : [life]))
      if (!world.wasSlow && new Set(lives).size < lives.length) find(`${n} was carried out twice in one life`)
    }
    for (const { n } of acked) if ((calls.get(n) ?? []).length === 0) find(`${n} was never carried out`)
    const firstCall = ({ n }: Sent): number => calls.get(n)?.[0]?.at ?? Infinity
    for (const first of acked) {
      const before = acked.find((one) => (one.ackedAt ?? 0) < first.sentAt && firstCall(one) > firstCall(first))
      if (before !== undefined) world.find('order', `${name}: command ${first.n} was carried out before ${before.n}`)
    }
  }
}
