/** Tests changes of tasks over a runner that commits the service's documents together with its own log entries. */
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import { createRulesService } from '../../../src/services/rules/service.ts'
import type { PlannedChange, TaskChange } from '../../../src/services/rules/runner.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { conflictError } from '../../../src/storage/conflicts.ts'
import type { Storage, Write } from '../../../src/storage/contract.ts'
import { BareRunner } from './support/bare-runner.ts'
import { PLUGS, ruleOf } from './support/rules.ts'

/** Commits like a runner with a log. `refuses`: the error of the commit. */
class CommittingRunner extends BareRunner {
  readonly carried: (readonly Write[])[] = []
  refuses: AppError | undefined
  readonly #storage: Storage

  constructor(storage: Storage) {
    super({ plugs: PLUGS })
    this.#storage = storage
  }

  override async plan(change: TaskChange): Promise<PlannedChange> {
    const planned = await super.plan(change)
    if (change.kind === 'forget') return planned
    const carryOut = async (writes: readonly Write[]): Promise<void> => {
      if (this.refuses !== undefined) throw this.refuses
      const store = this.#storage.tenant('acme')
      await store.commit([...writes, store.log('inputs').appending([change.kind])])
      this.carried.push(writes)
      await planned.apply()
    }
    return { ...planned, carryOut, apply: () => Promise.reject(new Error('it was carried out')) }
  }
}

async function open() {
  const storage = openMemory()
  const runner = new CommittingRunner(storage)
  let id = 0
  const service = createRulesService({
    tenant: 'acme',
    store: storage.tenant('acme'),
    runner,
    plugs: () => PLUGS,
    now: () => 0,
    newId: () => `t${id++}`,
  })
  await service.start()
  return { storage, runner, api: service.as({ tenant: 'acme', user: 'tester' }) }
}

// Holds RUNNER-1
describe('a change that the runner executes', () => {
  it('is one commit of the document and of the log of the runner', async () => {
    const { storage, runner, api } = await open()
    const before = storage.stats().commits
    const { ID } = await api.tasks.create(ruleOf())
    expect(storage.stats().commits - before).toBe(1)
    expect(runner.carried.map((writes) => writes.map(({ kind }) => kind))).toEqual([['put']])
    expect((await api.tasks.stop(ID)).status).toBe('stopped')
    expect(storage.stats().commits - before).toBe(2)
    expect(runner.told).toEqual([`begin ${ID} 1`, `end ${ID}`])
  })

  it('has no effect when its commit is rejected', async () => {
    const { runner, api } = await open()
    runner.refuses = new AppError('STORE', 'the disk is full')
    await expect(api.tasks.create(ruleOf())).rejects.toThrow('the disk is full')
    expect(await api.tasks.count({})).toBe(0)
    expect(runner.told).toEqual([])
  })

  it('is retried over a concurrent write', async () => {
    const { runner, api } = await open()
    const { ID } = await api.tasks.create(ruleOf())
    runner.refuses = conflictError([{ index: 0, collection: 'tasks', id: ID, expected: 1, actual: 2 }])
    const { plan } = runner
    let plans = 0
    runner.plan = (change) => {
      if (plans++ > 0) runner.refuses = undefined
      return plan.call(runner, change)
    }
    expect((await api.tasks.stop(ID)).status).toBe('stopped')
    expect(plans).toBe(2)
  })
})
