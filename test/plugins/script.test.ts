import { describe, expect, it } from 'vitest'
import { createScript } from '../../plugins/script/plug.ts'
import { ScriptFence } from '../../src/core/script/fence.ts'
import { checkPlug, runPlugLater } from '../support/plug-context.ts'

const script = createScript(new ScriptFence())
const run = (source: string, more: object = {}) =>
  runPlugLater(script, {
    properties: { script: source },
    message: { t: 20 },
    nodes: { n: { v: 3 } },
    now: 1000,
    ...more,
  })

describe('script', () => {
  it.each([
    ['(options) => ({ f: options.streamData.t * 2 })', { f: 40 }],
    ['function (options) { return { v: options.rawData.n.v } }', { v: 3 }],
    ['return { now: Date.now(), iso: new Date().toISOString() }', { now: 1000, iso: '1970-01-01T00:00:01.000Z' }],
    ['send(null, { sent: true }); return { late: true }', { sent: true }],
    ['const half = async () => options.streamData.t / 2; return { half: await half() }', { half: 10 }],
    ['return { text: `${options.task.TASK_ID}` }', { text: 'task-1' }],
    ['return { ...options.streamData, x: 1 }', { t: 20, x: 1 }],
    ['const r = {}; for (const k in options.streamData) r[k] = 1; return r', { t: 1 }],
  ])('%s gives %j', async (source, rawData) => {
    expect(await run(source)).toMatchObject({ state: 'Success', rawData })
  })

  it.each([
    ['throw new Error("no luck")', 'no luck'],
    ['send("refused")', 'refused'],
    ['return 5', 'gives no object'],
    ['return [1]', 'gives no object'],
    ['const x = 1', 'never answers'],
    ['while (true) {}', 'too many steps'],
  ])('%s gives Error, and no failure: %s', async (source, reason) => {
    const ran = await run(source)
    expect(ran.state).toBe('Error')
    expect(ran.rawData?.['error']).toContain(reason)
  })

  it('hands its log on', async () => {
    const { log } = await run('console.warn("hot", { t: 1 }); console.log("done"); return {}')
    expect(log).toEqual(['WARN hot {"t":1}', 'INFO done'])
  })

  it('draws the same chance for the same seed', async () => {
    const source = 'return { x: Math.random() }'
    const [a, b, c] = [await run(source), await run(source), await run(source, { random: [0.1] })]
    expect(a.rawData).toEqual(b.rawData)
    expect(a.rawData).not.toEqual(c.rawData)
  })

  it.each([
    ['return {', 'column'],
    ['let a = 1;\nlet b = ;', 'line 2, column 9'],
    ['const { task, ...rest } = options', 'name the fields'],
    ['import("node:fs")', 'no modules'],
    ['return { x: 2n }', 'bigint'],
  ])('refuses %j: %s', (source, text) => {
    expect(checkPlug(script, { script: source }).join()).toContain(text)
  })
})
