/** Provides a converter service over a store in memory, with neighbouring services that record their calls. */
import { AppError } from '../../../src/kernel/errors.ts'
import type { InternalBroker } from '../../../src/services/broker/contract.ts'
import type { ConverterApi, InternalConverter } from '../../../src/services/converter/contract.ts'
import { Conversions } from '../../../src/services/converter/conversion.ts'
import { ConverterService } from '../../../src/services/converter/service.ts'
import type { InternalResources } from '../../../src/services/resources/contract.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'

export const CALLER = { tenant: 'one', user: 'tester' }

export interface TestConverter {
  readonly service: InternalConverter
  readonly api: ConverterApi
  readonly storage: Storage
  /** Bodies that the broker received, with their keys */
  readonly posted: { readonly body: unknown; readonly key: string | undefined }[]
  readonly patched: { readonly id: string; readonly body: unknown }[]
  /** Error that the broker throws while this is set */
  brokerFails: Error | undefined
  now: number
}

export function testConverter(storage = openMemory(), { tenant, user } = CALLER): TestConverter {
  const posted: TestConverter['posted'] = []
  const patched: TestConverter['patched'] = []
  const events = (_resource: undefined, body: unknown, options: { idempotencyKey?: string } = {}) => {
    if (made.brokerFails !== undefined) return Promise.reject(made.brokerFails)
    posted.push({ body, key: options.idempotencyKey })
    return Promise.resolve({ message: '', content: {} })
  }
  const patch = (id: string, body: unknown) => {
    patched.push({ id, body })
    return Promise.resolve({ value: { id }, version: 1 })
  }
  const broker = { as: () => ({ posting: { events } }), check: () => [] } as unknown as InternalBroker
  const resources = { as: () => ({ resources: { patch } }) } as unknown as InternalResources
  let ids = 0
  const service = new ConverterService({
    tenant,
    store: storage.tenant(tenant),
    conversions: new Conversions(() => made.now),
    now: () => made.now,
    newId: () => `id-${++ids}`,
    broker: () => broker,
    resources: () => resources,
  })
  const made: TestConverter = {
    service,
    api: service.as({ tenant, user }),
    storage,
    posted,
    patched,
    brokerFails: undefined,
    now: 0,
  }
  return made
}

/** A template that returns one metric of the device named in the payload. */
export const TEMPLATE = '{"metrics":[{"resource":"$payload.device","temperature":$util.renderValue($payload.t)}]}'

export async function refusalOf(work: Promise<unknown>): Promise<AppError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof AppError)) throw new Error('it was not refused')
  return error
}
