/**
 * Tests the command `bench`: its output, its exit codes, and its errors for wrong options. No test depends on speed.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { BenchResult } from '../../src/bench/index.ts'
import { root } from '../support/repository.ts'
import { cli, Workspace } from './run-cli.ts'

const RULE = 'fixtures/rules/overheating.json'
const BOILER = 'fixtures/recordings/boiler.csv'
const MESSAGES = `--messages ${BOILER}`
const QUICK = '--rounds 1 --seconds 0.01 --rate 50000 --listen none'

describe('bench', () => {
  it("measures the README's rule over its recording, without a resource to be named", async () => {
    const { code, stdout, stderr } = await cli(`bench ${RULE} ${MESSAGES} ${QUICK}`)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('1,440 messages, one task; 5 firings in the first 1,440')
    expect(stdout).toMatch(/^loop generated from the rule \(limit\) +[\d.]+ /m)
    expect(stdout).toMatch(/^without a subscriber +[\d.]+ [ kM]+one round +[\d.]+ % /m)
    expect(stdout).toMatch(/^Delay at 50 k messages\/s.*: p50 .*p99\.9 /m)
    expect(stdout).toMatch(/^Paths, without a subscriber: /m)
  })

  it('prints JSON that a later run is held against, and ends with 2 when it became slower', async () => {
    using workspace = new Workspace({})
    const run = (...more: string[]) =>
      workspace.cli([...`bench ${join(root, RULE)} --messages ${join(root, BOILER)} ${QUICK}`.split(' '), ...more])
    const first = await run('--json', '--svg', 'late.svg')
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' })
    expect(readFileSync(join(workspace.path, 'late.svg'), 'utf8')).toMatch(/^<svg /)
    const result = JSON.parse(first.stdout) as BenchResult
    expect(result).toMatchObject({ format: 1, messages: 1440, rounds: 1 })

    // An earlier result that is faster by far more than a busy machine's noise, with as many rounds as a verdict needs.
    const lines = result.lines.map((line) => {
      const faster = line.name === 'limit' ? 1 : 1e9
      return {
        ...line,
        samples: Array.from({ length: 6 }, (_, i) => ({
          ...line.samples[0],
          cpuMs: ((line.samples[0]?.cpuMs ?? 1) / faster) * (1 + i / 100),
        })),
      }
    })
    using earlier = new Workspace({ 'baseline.json': { ...result, lines } })
    const baseline = ['--baseline', join(earlier.path, 'baseline.json'), '--fail-over', '5%']
    const once = await run(...baseline)
    expect({ code: once.code, verdict: once.stdout.includes('too few rounds (6 at least)') }).toEqual({
      code: 0,
      verdict: true,
    })
    const slower = await run(...baseline, '--rounds', '6')
    if (slower.stdout.includes('too noisy')) return
    expect(slower.stdout).toMatch(/Gate FAILED: significantly slower by more than 5 %: without a subscriber/)
    expect(slower.code).toBe(2)
  })

  it.each<[string, string, string]>([
    [
      'a rule that does not exist',
      `nowhere.json ${MESSAGES}`,
      'ERROR   nowhere.json: cannot be read: the file does not exist',
    ],
    [
      'a recording that does not exist',
      `${RULE} --messages nowhere.csv`,
      'nowhere.csv: cannot be read: the file does not exist',
    ],
    ['no recording', RULE, "required option '--messages <file>' not specified"],
    [
      'messages that the rule does not hear',
      `${RULE} --messages fixtures/recordings/door-and-motion.ndjson --resource nobody`,
      "the messages are not about a resource of the rule (the task's is nobody): they are about ",
    ],
    [
      'all wrong options at once',
      `${RULE} ${MESSAGES} --copies 0 --rounds x --listen all,some --fail-over 5% --json --markdown`,
      `error: --copies: "0" is not a whole number from 1 to 100000
error: --rounds: "x" is not a whole number from 1 to 1000
error: --listen: "some" is not valid; write none, fired, all, why
error: --fail-over: nothing to compare with; set --baseline FILE or --against REF
error: --json and --markdown: choose one
`,
    ],
    [
      'a baseline that is none',
      `${RULE} ${MESSAGES} --baseline ${RULE}`,
      `${RULE}: not a result of a bench; --baseline reads the output of --json`,
    ],
    ['a ref that does not exist', `${RULE} ${MESSAGES} --against no-such-ref`, 'error: --against no-such-ref: '],
  ])('says what is wrong with %s', async (_, args, message) => {
    const { code, stdout, stderr } = await cli(`bench ${args}`)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(message)
  })
})
