/** Tests to which version the name of a model refers, over a models service that only records its calls. */
import { describe, expect, it } from 'vitest'
import type { InternalModels } from '../../../src/services/models/contract.ts'
import type { FunctionRecord } from '../../../src/services/functions/function-record.ts'
import { FunctionStore } from '../../../src/services/functions/function-store.ts'
import { ModelRunner } from '../../../src/services/functions/model-runner.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { recordOf } from './support/records.ts'

/**
 * Parses `1.0.0`, a version that passed its check; optionally followed by a status, or d for a draft, x for deprecated.
 */
function versionOf(text: string): FunctionRecord {
  const [version = '', mark = ''] = text.split(' ')
  const manifest = { name: 'm', version, runtime: 'byoml-xgboost' }
  const state =
    mark.length > 1
      ? { status: mark as FunctionRecord['status'], ...(mark === 'undeploying' && { verified: 'r' }) }
      : { status: 'running' as const, verified: 'r', draft: mark === 'd', deprecated: mark === 'x' }
  return recordOf({ name: 'm', version, type: 'models', manifest, ...state })
}

async function modelsOf(versions: readonly string[], served?: string) {
  const store = new FunctionStore(openMemory().tenant('t'))
  for (const one of versions) await store.store.commit(store.putting(versionOf(one), 'absent'))
  let place = served
  const releases = {
    served: () => Promise.resolve(place),
    serve: ({ version }: { readonly version: string }) => Promise.resolve(void (place = version)),
    withdraw: () => Promise.resolve(void (place = undefined)),
  } as unknown as InternalModels['releases']
  const models = { releases } as InternalModels
  const runner = new ModelRunner({ models: () => models, tenant: 't', store })
  return { runner, place: () => place }
}

const id = (version: string) => ({ type: 'models', name: 'm', version }) as const

describe('serving after a successful check: %s', () => {
  it.each<[string, readonly string[], string | undefined, string, string | undefined]>([
    ['the first one', ['1.0.0'], undefined, '1.0.0', '1.0.0'],
    ['a newer one', ['1.0.0 x', '1.0.1'], '1.0.0', '1.0.1', '1.0.1'],
    ['an older one', ['1.0.0', '2.0.0'], '2.0.0', '1.0.0', '2.0.0'],
    [
      'one whose successor was put there and did not answer yet',
      ['1.0.0 x', '1.0.1 pending'],
      '1.0.1',
      '1.0.0',
      '1.0.1',
    ],
    ['one whose successor failed', ['1.0.0 x', '1.0.1 failed'], '1.0.1', '1.0.0', '1.0.0'],
    ['a draft beside a published one', ['1.0.0', '2.0.0 d'], '1.0.0', '2.0.0', '1.0.0'],
    ['a published one beside a newer draft', ['1.0.0', '2.0.0 d'], '2.0.0', '1.0.0', '1.0.0'],
    ['one that is being removed', ['1.0.0 undeploying'], undefined, '1.0.0', undefined],
  ])('%s', async (_title, versions, served, verified, expected) => {
    const { runner, place } = await modelsOf(versions, served)
    await runner.verified(id(verified))
    expect(place()).toBe(expected)
  })
})

describe('a version that was removed', () => {
  it.each<[string, readonly string[], string | undefined, string, string | undefined]>([
    ['is replaced by the best of the others', ['1.0.0 x'], '1.0.1', '1.0.1', '1.0.0'],
    ['leaves it empty without one that has answered', ['1.0.0 failed'], '1.0.1', '1.0.1', undefined],
    ['changes nothing if another one is served', ['1.0.1'], '1.0.1', '1.0.0', '1.0.1'],
  ])('%s', async (_title, versions, served, gone, expected) => {
    const { runner, place } = await modelsOf(versions, served)
    await runner.ended(id(gone))
    expect(place()).toBe(expected)
  })
})
