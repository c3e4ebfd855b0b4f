/** Which version the name of a model stands for, over a models service that only writes down what it is told. */
import { describe, expect, it } from 'vitest'
import type { OperatedModels } from '../../../src/services/models/contract.ts'
import type { FunctionRecord } from '../../../src/services/functions/function-record.ts'
import { FunctionStore } from '../../../src/services/functions/function-store.ts'
import { ModelRunner } from '../../../src/services/functions/model-runner.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { recordOf } from './support/records.ts'

type Version = Pick<FunctionRecord, 'version'> & Partial<FunctionRecord>

const RUNNING = { status: 'running', verified: 'r' } as const

async function modelsOf(versions: readonly Version[], served?: string) {
  const store = new FunctionStore(openMemory().tenant('t'))
  for (const one of versions) {
    const { version } = one
    const manifest = { name: 'm', version, runtime: 'byoml-xgboost' }
    await store.store.commit(store.putting(recordOf({ name: 'm', type: 'models', manifest, ...one }), 'absent'))
  }
  let place = served
  const releases = {
    served: () => Promise.resolve(place),
    serve: ({ version }: { readonly version: string }) => Promise.resolve(void (place = version)),
    withdraw: () => Promise.resolve(void (place = undefined)),
  } as unknown as OperatedModels['releases']
  const models = { releases } as OperatedModels
  const runner = new ModelRunner({ models: () => models, storeOf: () => store })
  return { runner, place: () => place }
}

const id = (version: string) => ({ type: 'models', name: 'm', version }) as const

describe('a version that has answered', () => {
  it.each<[string, readonly Version[], string | undefined, string, string | undefined]>([
    ['the first one', [{ version: '1.0.0', ...RUNNING }], undefined, '1.0.0', '1.0.0'],
    [
      'a newer one',
      [
        { version: '1.0.0', deprecated: true, ...RUNNING },
        { version: '1.0.1', ...RUNNING },
      ],
      '1.0.0',
      '1.0.1',
      '1.0.1',
    ],
    [
      'an older one',
      [
        { version: '1.0.0', ...RUNNING },
        { version: '2.0.0', ...RUNNING },
      ],
      '2.0.0',
      '1.0.0',
      '2.0.0',
    ],
    [
      'one whose successor was put there and did not answer yet',
      [
        { version: '1.0.0', deprecated: true, ...RUNNING },
        { version: '1.0.1', status: 'pending' },
      ],
      '1.0.1',
      '1.0.0',
      '1.0.1',
    ],
    [
      'one whose successor failed',
      [
        { version: '1.0.0', deprecated: true, ...RUNNING },
        { version: '1.0.1', status: 'failed' },
      ],
      '1.0.1',
      '1.0.0',
      '1.0.0',
    ],
    [
      'a draft beside a published one',
      [
        { version: '1.0.0', ...RUNNING },
        { version: '2.0.0', draft: true, ...RUNNING },
      ],
      '1.0.0',
      '2.0.0',
      '1.0.0',
    ],
    [
      'a published one beside a newer draft',
      [
        { version: '1.0.0', ...RUNNING },
        { version: '2.0.0', draft: true, ...RUNNING },
      ],
      '2.0.0',
      '1.0.0',
      '1.0.0',
    ],
    [
      'one that is being taken away',
      [{ version: '1.0.0', verified: 'r', status: 'undeploying' }],
      undefined,
      '1.0.0',
      undefined,
    ],
  ])('%s', async (_title, versions, served, verified, expected) => {
    const { runner, place } = await modelsOf(versions, served)
    await runner.verified('t', id(verified))
    expect(place()).toBe(expected)
  })
})

describe('a version that is gone', () => {
  it.each<[string, readonly Version[], string | undefined, string, string | undefined]>([
    [
      'leaves its place to the best of the others',
      [{ version: '1.0.0', deprecated: true, ...RUNNING }],
      '1.0.1',
      '1.0.1',
      '1.0.0',
    ],
    [
      'leaves it empty without one that has answered',
      [{ version: '1.0.0', status: 'failed' }],
      '1.0.1',
      '1.0.1',
      undefined,
    ],
    ['changes nothing where another one stands', [{ version: '1.0.1', ...RUNNING }], '1.0.1', '1.0.0', '1.0.1'],
  ])('%s', async (_title, versions, served, gone, expected) => {
    const { runner, place } = await modelsOf(versions, served)
    await runner.ended('t', id(gone))
    expect(place()).toBe(expected)
  })
})
