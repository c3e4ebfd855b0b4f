/** Tests the V8 settings of a serving process. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { root } from '../support/repository.ts'

/** Script that creates long-lived objects, which V8 records by default. */
const LONG_LIVED = `
  const { setFlagsFromString } = await import('node:v8')
  setFlagsFromString('--trace-pretenuring-statistics')
  const kept = []
  const keep = (i) => kept.push({ i, rest: [i, i + 1] })
  for (let i = 0; i < 300_000; i++) keep(i)`

/** Returns how many allocation sites V8 recorded */
async function noted(first: string): Promise<number> {
  const { stdout } = await run(first + LONG_LIVED)
  return stdout.split('\n').filter((line) => line.includes('AllocationSite')).length
}

const run = (script: string) =>
  promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { cwd: root })

type Heap = Pick<NodeJS.MemoryUsage, 'heapTotal' | 'heapUsed'>

/** Script that creates and drops lists of 8 MB each, and prints the memory before and after compaction. */
const LEFT_BEHIND = (lists: number) => `
  const { compactHeap } = await import(${JSON.stringify(join(root, 'src/host/steady-heap.ts'))})
  const { runInNewContext } = await import('node:vm')
  let left = Array.from({ length: ${lists} }, () => new Array(1_000_000).fill({}))
  left = undefined
  const before = process.memoryUsage()
  compactHeap()
  const after = process.memoryUsage()
  console.log(JSON.stringify({ before, after, gc: runInNewContext('typeof gc') }))`

it('returns much unused memory of a start', async () => {
  const of = async (lists: number) =>
    JSON.parse((await run(LEFT_BEHIND(lists))).stdout) as { before: Heap; after: Heap; gc: string }
  const much = await of(60)
  expect(much.before.heapTotal).toBeGreaterThan(300e6)
  expect(much.after.heapTotal).toBeLessThan(much.before.heapTotal / 4)
  expect(much.gc, 'nobody else can ask for a collection').toBe('undefined')
  const little = await of(1)
  expect(little.after.heapUsed, 'little is not worth a pause').toBeGreaterThan(little.before.heapUsed - 4e6)
})

it('uses only known flags of V8', async () => {
  const { stderr } = await run(
    `(await import(${JSON.stringify(join(root, 'src/host/steady-heap.ts'))})).keepHeapSteady()
    ;(await import('node:v8')).setFlagsFromString('--no-such-flag')`,
  )
  // V8 complains about the second flag only
  expect(stderr.match(/unrecognized flag \S+/g)).toEqual(['unrecognized flag --no-such-flag'])
})

it('a burst does not make later objects long-lived in a serving process', async () => {
  const runServe = JSON.stringify(join(root, 'src/cli/run-serve.ts'))
  const refused = `
    const { runServe } = await import(${runServe})
    await runServe({ port: 'none' }, undefined).catch((error) => { if (error.code !== 'USAGE') throw error })`
  // if this fails, V8 has changed, and the setting can be removed
  expect(await noted('')).toBeGreaterThan(0)
  expect(await noted(refused)).toBe(0)
})
