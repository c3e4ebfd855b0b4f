/** Simulates clients that set, replace and delete secrets, whose values must never be revealed. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import type { Outcome, World } from '../world/world.ts'
import { KnownThings, type KnownThing } from './known-thing.ts'
import type { ServiceModel, SimulatedService } from './simulated-service.ts'

const SECRETS = '/vault/v1/secrets'
const NAMES = ['PUMP_KEY', 'DOOR_KEY'] as const
/** beginning of every value */
const VALUE = 'nobody is told'
const ORACLE = 'secrets are as the model says'

export const secrets: SimulatedService = {
  name: 'secrets',
  onlyWhenDrawn: true,
  drawnApart: true,
  cast: 0.05,
  needs: ['vault'],
  asks: [`GET ${SECRETS}`, `PUT ${SECRETS}/:name`, `DELETE ${SECRETS}/:name`],
  operations: {
    put: { weight: 4, draw: (chance, n) => ({ name: chance.of(NAMES), n }) },
    remove: { weight: 2, draw: (chance) => ({ name: chance.of(NAMES) }) },
    list: { weight: 1, draw: (chance) => ({ name: chance.of(NAMES) }) },
  },
  model: (world) => new Secrets(world),
}

type Secret = KnownThing<'there' | 'absent'>

class Secrets implements ServiceModel {
  readonly #world: World
  readonly #known: KnownThings<'there' | 'absent'>

  constructor(world: World) {
    this.#world = world
    this.#known = new KnownThings<'there' | 'absent'>(world, ORACLE, 'absent')
  }

  act(operation: string, tenant: string, given: JsonObject): void {
    const { name, n } = given as { name: string; n?: number }
    const secret = this.#known.of(tenant, name)
    secret.work(async () => {
      if (operation === 'put') await this.#put(secret, `${VALUE} ${n}`)
      else if (operation === 'remove') await this.#remove(secret)
      else await this.#list(secret)
    })
  }

  async verify(tenant: string): Promise<void> {
    for (const name of NAMES) {
      const secret = this.#known.of(tenant, name)
      secret.rest()
      await this.#list(secret)
      if (secret.state === undefined) secret.find('nobody says whether it is there')
    }
  }

  /** The response reveals whether the secret existed before. */
  async #put(secret: Secret, value: string): Promise<void> {
    const { tenant, name } = secret
    const outcome = await this.#world.ask({ method: 'PUT', url: `${SECRETS}/${name}`, tenant, body: { value } })
    this.#tellsNothing(secret, outcome)
    const { status } = outcome.answer ?? {}
    secret.told('put', outcome, (state) => {
      const fits = outcome.kind !== 'answered' || status === (state === 'there' ? 200 : 201)
      return fits ? 'there' : undefined
    })
  }

  async #remove(secret: Secret): Promise<void> {
    const outcome = await secret.ask('remove', { method: 'DELETE', url: `${SECRETS}/${secret.name}` }, (state) =>
      state === 'there' ? 'absent' : undefined,
    )
    this.#tellsNothing(secret, outcome)
  }

  async #list(secret: Secret): Promise<void> {
    const outcome = await this.#world.ask({ method: 'GET', url: SECRETS, tenant: secret.tenant })
    this.#tellsNothing(secret, outcome)
    if (outcome.kind !== 'answered') return
    const listed = (outcome.answer.body as { secrets: readonly { name: string }[] }).secrets.map(({ name }) => name)
    const is = listed.includes(secret.name) ? 'there' : 'absent'
    secret.see(is, (state) => state === is)
    const others = listed.filter((name) => !NAMES.some((own) => own === name))
    if (others.length > 0 || new Set(listed).size < listed.length) secret.find(`listed are ${listed.join(', ')}`)
  }

  #tellsNothing(secret: Secret, { answer }: Outcome): void {
    if (JSON.stringify(answer ?? null).includes(VALUE)) secret.find(`an answer has a value: ${JSON.stringify(answer)}`)
  }
}
