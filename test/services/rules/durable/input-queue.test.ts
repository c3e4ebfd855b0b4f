/** What arrives in one turn is committed together; who waits for what. */
import { describe, expect, it } from 'vitest'
import { InputQueue } from '../../../../src/services/rules/durable/input-queue.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'

describe('writes without an input', () => {
  it('are answered after their commit, while inputs of it are still applied', async () => {
    const store = openMemory().tenant('acme')
    let open: () => void = () => undefined
    const gate = new Promise<void>((resolve) => (open = resolve))
    const queue = new InputQueue(store, { apply: () => gate, settled: () => undefined })
    const log = store.log('messages')
    const order: string[] = []
    const before = queue.addWrites(1, [log.appending(0, [{ n: 1 }])]).then(({ results }) => order.push(`${results[0]}`))
    const input = queue
      .add({ k: 'jump', at: 1 }, [log.appending(0, [{ n: 2 }])])
      .then(({ results }) => order.push(`input ${results[0]}`))
    const after = queue.addWrites(1, [log.appending(0, [{ n: 3 }])]).then(({ results }) => order.push(`${results[0]}`))
    await Promise.all([before, after])
    expect(order).toEqual(['1', '3'])
    open()
    await input
    expect(order).toEqual(['1', '3', 'input 2'])
    await queue.idle()
    expect(queue.size).toBe(0)
  })
})
