import { describe, expect, it } from 'vitest'
import { createScript } from '../../plugins/script/plug.ts'
import type { EngineEvent } from '../../src/core/engine/events.ts'
import { Sandbox } from '../../src/core/language/script/sandbox.ts'
import { createEngine, simulate, VirtualClock } from '../../src/index.ts'
import { checkPlug, runPlug, runPlugLater } from '../support/plug-context.ts'

const script = createScript(new Sandbox())
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
  ])('%s returns %j', async (source, rawData) => {
    expect(await run(source)).toMatchObject({ state: 'Success', rawData })
  })

  it.each([
    ['throw new Error("no luck")', 'no luck'],
    ['send("refused")', 'refused'],
    ['return 5', 'does not return an object'],
    ['return [1]', 'does not return an object'],
    ['const x = 1', 'never answers'],
    ['if (false) ({ x: 1 })', 'never answers'],
    ['return { v: ${nodes.gone.state} }', '"${nodes.gone.state}" has no value'],
    ['return { v: $${streamdata.gone} }', '"$${streamdata.gone}" has no value'],
    ['const v = ${variables.gone}; return { v }', '"${variables.gone}" has no value'],
    ['return { v: "is ${nodes.gone.state}" }', '"${nodes.gone.state}" has no value'],
    ['return { v: `is ${nodes.gone.state}` }', '"nodes.gone.state" has no value'],
    ['while (true) {}', 'too many steps'],
  ])('%s returns Error without failing: %s', async (source, reason) => {
    const ran = await run(source)
    expect(ran.state).toBe('Error')
    expect(ran.rawData?.['error']).toContain(reason)
  })

  /** Characters that would end a text or a statement if they were pasted. */
  const HOSTILE = [
    '"; throw 1; "',
    "'; throw 1; '",
    '`; throw 1; `',
    '${1 + 1}',
    '\\',
    '\n\u2028',
    '*/ throw 1 /*',
    '</script>',
    '${nodes.n.v}',
  ]

  it.each<[string, (value: string) => unknown]>([
    ['return { v: $${streamdata.h} }', (value) => value],
    ['return { v: ${streamdata.h} }', (value) => value],
    ['return { v: "<${streamdata.h}>" }', (value) => `<${value}>`],
    ["return { v: '<$${streamdata.h}>' }", (value) => `<${value}>`],
    ['return { v: `<${streamdata.h}>` }', (value) => `<${value}>`],
    ['const f = (x) => { return x }; ({ v: f(${streamdata.h}) })', (value) => value],
    ['(options) => ({ v: ${streamdata.h} })', (value) => value],
    ['const r = { "${streamdata.h}": 1 }; return { v: Object.keys(r)[0] }', (value) => value],
    ['/* ${streamdata.h} */ // "${streamdata.h}"\nreturn { v: "\\${streamdata.h}" }', () => '${streamdata.h}'],
    ['const half = async () => ${streamdata.h}; return { v: await half() }', (value) => value],
  ])('binds the values of placeholders as data: %s', async (source, expected) => {
    for (const h of HOSTILE) {
      const ran = await run(source, { message: { h } })
      expect(ran).toMatchObject({ state: 'Success', rawData: { v: expected(h) } })
    }
  })

  it.each([
    ['return { v: ${nodes.n.rawData.v} + ${streamdata.t} / 2 }', { v: 13 }],
    ['return { v: $${nodes.n.rawData} }', { v: { v: 3 } }],
    ['return { v: "${nodes.n.rawData} at ${streamdata.t}" }', { v: '{"v":3} at 20' }],
    ['return { v: ${?nodes.gone.state} ?? "none", w: "${?nodes.gone.state}." }', { v: 'none', w: '.' }],
    ['return { v: ${nodes.gone.state} == null, w: typeof ${nodes.gone.state} }', { v: true, w: 'undefined' }],
    ['if (options.now > 5000) return { v: ${nodes.gone.state} }; return { w: 1 }', { w: 1 }],
    ['return { v: ${variables.limit} }', { v: 9 }],
    ['return { v: nodes.n.rawData.v, gone: nodes.gone.state }', { v: 3 }],
    ['nodes = { n: { state: "own" } }; return { v: nodes.n.state }', { v: 'own' }],
    ['const nodes = { n: { state: "mine" } }; return { v: `${nodes.n.state}` }', { v: 'mine' }],
    [
      'return { keys: Object.keys(options).join(), v: ${streamdata.t} }',
      { v: 20, keys: 'streamData,rawData,task,node,requiredProperties,now' },
    ],
    ['return { v: "a/b".replace(/["\'/]/, "${streamdata.t}") }', { v: 'a20b' }],
    [
      'try { ${nodes.gone.state}.x } catch (error) { return { v: error.message.slice(0, 38) } }',
      { v: '"${nodes.gone.state}" has no value, so' },
    ],
  ])('reads the rule by placeholders: %s returns %j', async (source, rawData) => {
    expect(await run(source, { variables: { limit: 9 } })).toMatchObject({ state: 'Success', rawData })
  })

  it.each([
    ['const a = options.streamData.t * 2; ({ a })', { a: 40 }],
    ['let a = 1; if (options.now > 0) ({ a: 2 }); else ({ a: 3 })', { a: 2 }],
    ['const work = async () => ({ a: 4 }); work()', { a: 4 }],
    ['async function execute() { send(null, { sent: 1 }) }\nexecute().catch(send)', { sent: 1 }],
    ['const p = Promise.resolve(1).then(() => 2).then(() => send(null, { late: 1 })); Promise.resolve()', { late: 1 }],
    ['const a = await Promise.resolve(5); ({ a })', { a: 5 }],
    ['if (options.now > 5000) return { a: 1 }; ({ a: 2 })', { a: 2 }],
  ])('returns the value of the last statement: %s returns %j', async (source, rawData) => {
    expect(await run(source)).toMatchObject({ state: 'Success', rawData })
  })

  it('reports the rejection of the promise that is its last value', async () => {
    const { rawData } = await run('async function execute() { throw new Error("no luck") }\nexecute()')
    expect(rawData?.['error']).toContain('no luck')
  })

  it('follows JavaScript for in: a list has indexes', async () => {
    expect((await run('return { a: 20 in [20], b: 0 in [20] }')).rawData).toEqual({ a: false, b: true })
  })

  it('returns synchronously when the sandbox is loaded', async () => {
    const mine = createScript(new Sandbox())
    const call = { properties: { script: 'return { v: ${streamdata.t} }' }, message: { t: 1 } }
    expect(() => runPlug(mine, call)).toThrow('answered with a promise')
    await runPlugLater(mine, call)
    expect(runPlug(mine, call).rawData).toEqual({ v: 1 })
    expect(runPlug(mine, { properties: { script: 'null.x' } }).state).toBe('Error')
  })

  describe('memory', () => {
    const COUNT = `
      const memory = options.internalState || { count: 0 }
      memory.count++
      options.internalState = memory
      return { count: memory.count }`

    it('is the value of options.internalState at the end', async () => {
      const first = await run(COUNT)
      expect(first).toMatchObject({ rawData: { count: 1 }, internalState: { count: 1 } })
      const second = await run(COUNT, { internalState: first.internalState })
      expect(second).toMatchObject({ rawData: { count: 2 }, internalState: { count: 2 } })
    })

    it.each([
      ['(options, send) => { options.internalState = [1]; send(null, { sent: 1 }) }', undefined, [1]],
      ['options.internalState = 7; return await Promise.resolve({ late: 1 })', undefined, 7],
      ['options.internalState.n++; return {}', { n: 1 }, { n: 2 }],
      ['return {}', { n: 1 }, { n: 1 }],
      ['options.internalState = null; return {}', { n: 1 }, null],
      ['delete options.internalState; return {}', { n: 1 }, null],
      ['return {}', undefined, undefined],
    ])('after %s with previous memory %j is %j', async (source, internalState, after) => {
      expect((await run(source, { internalState })).internalState).toEqual(after)
    })

    it.each([
      ['options.internalState = { n: 2 }; throw new Error("no luck")'],
      ['options.internalState = { n: 2 }; return 5'],
      ['options.internalState = { n: 2 }; send("refused")'],
    ])('is unchanged when the run returns Error: %s', async (source) => {
      const ran = await run(source, { internalState: { n: 1 } })
      expect([ran.state, ran.internalState]).toEqual(['Error', undefined])
    })

    it.each([
      ['options.internalState = "x".repeat(200000); return {}', 'its memory has 200002 characters, at most 100000'],
      ['options.internalState = { at: [NaN] }; return {}', 'options.internalState.at[0], which is NaN'],
    ])('is rejected as a whole: %s: %s', async (source, reason) => {
      expect((await run(source, { internalState: 1 })).rawData?.['error']).toContain(reason)
    })

    it('survives runs, a restart and a simulation', async () => {
      const node = { label: 's', name: 'script', resource: 'r', dataTrigger: true, properties: { script: COUNT } }
      const engine = createEngine({ plugs: [script], scheduler: new VirtualClock(0) })
      const task = await engine.start({ sensors: [node] })
      for (let i = 0; i < 2; i++) {
        engine.receive({ resource: 'r' })
        await engine.settled()
      }
      const saved = JSON.parse(JSON.stringify(task.save())) as ReturnType<typeof task.save>
      await engine.close()
      const next = createEngine({ plugs: [script], scheduler: new VirtualClock(0) })
      const restored = await next.restore(saved)
      next.receive({ resource: 'r' })
      await next.settled()
      expect(restored.node('s').rawData).toEqual({ count: 3 })
      await next.close()
      const messages = [1000, 2000, 3000].map((timestamp) => ({ resource: 'r', timestamp }))
      const counts: unknown[] = []
      const onEvent = (event: EngineEvent) => void (event.type === 'result' && counts.push(event.rawData))
      await simulate({ sensors: [node] }, { plugs: [script], messages, onEvent })
      expect(counts).toEqual([{ count: 1 }, { count: 2 }, { count: 3 }])
    })
  })

  it.each([
    ['return { v: 0 / 0 }', 'result.v, which is NaN; omit it or use null'],
    ['return { v: { list: [1, 1 / 0] } }', 'result.v.list[1], which is Infinity'],
    ['return { v: new Map([[1, 2]]) }', 'result.v, which is an object of the class Map'],
    [
      'class Reading { n = 1 }; return { "a b": new Reading() }',
      'result["a b"], which is an object of the class Reading',
    ],
    ['return { v: () => 1 }', 'result.v, which is a function'],
    ['return { v: [undefined] }', 'result.v[0], which is undefined'],
    ['const v = { n: [] }; v.n.push(v); return { v }', 'result.v.n[0], which leads back to result.v'],
  ])('rejects values that JSON would change: %s: %s', async (source, reason) => {
    expect((await run(source)).rawData?.['error']).toContain(reason)
  })

  it('accepts values with toJSON, and omits absent ones', async () => {
    const source = 'return { at: new Date(0), gone: undefined, own: Object.create(null) }'
    expect((await run(source)).rawData).toEqual({ at: '1970-01-01T00:00:00.000Z', own: {} })
  })

  it('forwards the log of a failing script', async () => {
    const { log, state } = await run('console.log("before"); throw new Error("no luck")')
    expect([log, state]).toEqual([['INFO before'], 'Error'])
  })

  it('forwards its log', async () => {
    const { log } = await run('console.warn("hot", { t: 1 }); console.log("done"); return {}')
    expect(log).toEqual(['WARN hot {"t":1}', 'INFO done'])
  })

  it('draws the same random numbers for the same seed', async () => {
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
    ['return { v: ${nodes..x} }', 'column 13'],
    ['return { v: ${nodes.n.state.x} }', 'has no fields'],
    ['return {\n v: "${temperature}" }', 'line 2, column 6'],
    ['return { v: ${vault.KEY} }', 'secret'],
    ['return { v: /${nodes.n.state}/.test("x") }', 'regular expression'],
  ])('rejects %j: %s', (source, text) => {
    expect(checkPlug(script, { script: source }).join()).toContain(text)
  })
})
