import { beforeEach, describe, expect, it } from 'vitest'
import { EffectLedger, type EffectOfTask } from '../../../src/services/shared/effect-order.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import type { Store } from '../../../src/storage/contract.ts'

const DAY = 86_400_000

let store: Store
let book: EffectLedger
beforeEach(() => {
  store = openMemory().tenant('acme')
  book = new EffectLedger(store)
})

function by(effect: string, more: Partial<EffectOfTask> = {}): EffectOfTask {
  return { task: 't', effect: `t/${effect}`, ...more }
}

async function apply(effect: EffectOfTask, things: readonly string[] = ['a'], now = 0): Promise<'again' | 'new'> {
  const draft = book.draft(now)
  const admitted = await draft.admit(things, effect)
  admitted.note()
  await store.commit(draft.writes())
  return admitted.isAgain ? 'again' : 'new'
}

// Holds EFFECT-1, EFFECT-2
describe('effects of one task on one thing', () => {
  it.each([
    ['1/1/0', '1/1/1'],
    ['1/2/9', '1/10/0'],
    ['1/99/9', '2/1/0'],
    ['1/1/0#9', '1/1/0#10'],
    ['1/1/0#1', '1/1/1#0'],
    ['1/1/0.2', '1/1/0.11'],
    ['1/1/0#1.5', '1/1/0#2.0'],
  ])('are applied in order: %s is rejected after %s', async (earlier, later) => {
    await apply(by(earlier))
    await apply(by(later))
    await expect(apply(by(earlier))).rejects.toMatchObject({
      code: 'SUPERSEDED',
      message: `the effect t/${earlier} arrived too late: t/${later}, a later effect of its task, was already applied to a`,
    })
    expect(await apply(by(later))).toBe('again')
  })

  it('are remembered after a restart', async () => {
    await apply(by('1/2/0'))
    book = new EffectLedger(store)
    await expect(apply(by('1/1/0'))).rejects.toMatchObject({ code: 'SUPERSEDED' })
  })

  it('are rejected when a later one was applied to one of several things', async () => {
    await apply(by('1/2/0'), ['b'])
    await expect(apply(by('1/1/0'), ['a', 'b'])).rejects.toThrow('was already applied to b')
    expect(await apply(by('1/1/0'), ['a'])).toBe('new')
  })

  it('see each other within one commit', async () => {
    const draft = book.draft(0)
    const later = await draft.admit(['a'], by('1/2/0'))
    later.note()
    await expect(draft.admit(['a'], by('1/1/0'))).rejects.toMatchObject({ code: 'SUPERSEDED' })
    expect((await draft.admit(['a'], by('1/2/0'))).isAgain).toBe(true)
  })

  it('cannot both be written when they are requested simultaneously', async () => {
    const drafts = [book.draft(0), book.draft(0)]
    for (const [i, draft] of drafts.entries()) (await draft.admit(['a'], by(`1/${i}/0`))).note()
    const commits = await Promise.allSettled(drafts.map((draft) => store.commit(draft.writes())))
    expect(commits).toMatchObject([{ status: 'fulfilled' }, { reason: { code: 'CONFLICT' } }])
  })
})

describe('effects without an order', () => {
  it.each([
    ['of another task', { task: 'u', effect: 'u/1/1/0' }],
    ['unordered ones', by('1/1/0', { unordered: true })],
    ['of a batch', { task: 't', effect: 'batch/7' }],
    ['with an id of something else', { task: 't', effect: 'u/1/1/0' }],
    ['of nobody', undefined],
  ])('%s are neither rejected nor remembered', async (_, effect) => {
    await apply(by('1/5/0'))
    const draft = book.draft(0)
    const admitted = await draft.admit(['a'], effect)
    expect(admitted.isAgain).toBe(false)
    expect(await apply(by('1/6/0'))).toBe('new')
  })

  it('are not compared across things', async () => {
    await apply(by('1/5/0'))
    expect(await apply(by('1/1/0'), ['b'])).toBe('new')
  })

  it('are not stored', async () => {
    const draft = book.draft(0)
    ;(await draft.admit(['a'], by('1/1/0', { unordered: true }))).note()
    expect(draft.writes()).toEqual([])
  })
})

describe('the record of effects', () => {
  it('forgets entries older than a day', async () => {
    await apply(by('1/5/0'), ['old'], 0)
    await apply(by('1/5/0'), ['young'], 1)
    await book.sweep(DAY)
    expect(await apply(by('1/1/0'), ['old'])).toBe('new')
    await expect(apply(by('1/1/0'), ['young'])).rejects.toMatchObject({ code: 'SUPERSEDED' })
  })

  it('forgets the oldest entries above its limit, and no more', async () => {
    for (const [i, thing] of ['first', 'second', 'third', 'fourth'].entries()) await apply(by('1/5/0'), [thing], i)
    await new EffectLedger(store, 2).sweep(10)
    for (const thing of ['first', 'second']) expect(await apply(by('1/1/0'), [thing])).toBe('new')
    for (const thing of ['third', 'fourth']) {
      await expect(apply(by('1/1/0'), [thing])).rejects.toMatchObject({ code: 'SUPERSEDED' })
    }
  })

  it('accepts task ids with any characters', async () => {
    const odd = (effect: string): EffectOfTask => ({ task: 'a/1#2', effect: `a/1#2/${effect}` })
    await apply(odd('1/5/0'))
    await expect(apply(odd('1/4/0'))).rejects.toMatchObject({ code: 'SUPERSEDED' })
  })
})
