/** Objects of a kind that lived long once are still made where young ones are collected. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { root } from '../support/repository.ts'

/** Makes objects that live long, which V8 takes note of unless it was told not to. */
const LONG_LIVED = `
  const { setFlagsFromString } = await import('node:v8')
  setFlagsFromString('--trace-pretenuring-statistics')
  const kept = []
  const keep = (i) => kept.push({ i, rest: [i, i + 1] })
  for (let i = 0; i < 300_000; i++) keep(i)`

/** what V8 noted: lines with the places of the code that it decided about */
async function noted(first: string): Promise<number> {
  const args = ['--input-type=module', '--eval', first + LONG_LIVED]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
  return stdout.split('\n').filter((line) => line.includes('AllocationSite')).length
}

it('a burst does not make what comes after it long-lived in a process that serves', async () => {
  const runServe = JSON.stringify(join(root, 'src/host/cli/run-serve.ts'))
  const refused = `
    const { runServe } = await import(${runServe})
    await runServe({ port: 'none' }, undefined).catch((error) => { if (error.code !== 'USAGE') throw error })`
  // else V8 does not do it any more, and nothing has to be kept from it
  expect(await noted('')).toBeGreaterThan(0)
  expect(await noted(refused)).toBe(0)
})
