/**
 * Holds random queries against pandas and SciPy, which judge.py asks: `npm run judge:queries -- [cases] [--record file]`.
 * The Python of the judge is a virtual environment in the user's cache, made when it does not exist. It ends with 1 when a
 * cell differs by more than 1e-9 and no row of the table in judge.py explains it.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { randomCase } from './random-queries.ts'
import { runCase } from './run-case.ts'

const DEFAULT_CASES = 20_000
const RECORDED = 100
/** packages of the judge, from PyPI */
const PACKAGES = ['pandas==3.1.1', 'scipy==1.17.1']

const arguments_ = process.argv.slice(2)
const recordAt = arguments_.indexOf('--record')
const file = recordAt < 0 ? undefined : arguments_[recordAt + 1]
const count = Number(arguments_.find((one) => /^\d+$/.test(one)) ?? (file === undefined ? DEFAULT_CASES : RECORDED))

const judge = spawn(python(), [fileURLToPath(new URL('judge.py', import.meta.url))], {
  stdio: ['pipe', 'pipe', 'inherit'],
})
const verdicts = createInterface({ input: judge.stdout })[Symbol.asyncIterator]()
const recorded: { readonly id: number; readonly rows: unknown }[] = []
const explained = new Map<string, number>()
let [cells, wrong] = [0, 0]
const began = performance.now()
for (let id = 0; id < count; id += 1) {
  const one = randomCase(id)
  const rows = await runCase(one)
  judge.stdin.write(`${JSON.stringify({ ...one, rows })}\n`)
  const answer = await verdicts.next()
  if (answer.done === true) throw new Error('the judge has gone')
  const verdict = JSON.parse(answer.value) as Verdict
  cells += verdict.cells
  for (const reason of verdict.explained) explained.set(reason, (explained.get(reason) ?? 0) + 1)
  if (file !== undefined) recorded.push({ id, rows: verdict.expected })
  if (verdict.differences.length === 0) continue
  wrong += 1
  if (wrong <= 5) process.stdout.write(`${JSON.stringify({ ...one, differences: verdict.differences.slice(0, 5) })}\n`)
}
judge.stdin.end()
const seconds = ((performance.now() - began) / 1_000).toFixed(0)
process.stdout.write(`${count} queries, ${cells} cells, ${wrong} queries differ; ${seconds} s\n`)
for (const [reason, times] of explained) process.stdout.write(`explained ${times} times: ${reason}\n`)
if (file !== undefined) writeFileSync(file, `[\n${recorded.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`)
process.exitCode = wrong === 0 ? 0 : 1

interface Verdict {
  readonly cells: number
  /** cells that differ and are not explained */
  readonly differences: readonly unknown[]
  /** reasons of those that are */
  readonly explained: readonly string[]
  readonly expected: unknown
}

/** The interpreter of the virtual environment. */
function python(): string {
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'reflexarc', 'judge-queries')
  const program = join(folder, 'bin', 'python')
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true })
    run('python3', ['-m', 'venv', folder])
    run(join(folder, 'bin', 'pip'), ['install', '--quiet', ...PACKAGES])
  }
  return program
}

function run(program: string, given: readonly string[]): void {
  const { status } = spawnSync(program, given, { stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error(`${program} ${given.join(' ')} failed`)
}
