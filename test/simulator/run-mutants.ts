/**
 * Reintroduces each fixed fault in a copy of the sources, and checks whether seeded runs find it. Results are saved as
 * they arrive, so that a later call continues where this one ended.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MUTANTS, type Mutant } from './mutants.ts'

const COPIED = ['src', 'plugins', 'test/simulator', 'package.json']

export interface MutantOptions {
  /** root of the checkout */
  readonly root: string
  /** number of seeds to try for each mutant */
  readonly seeds: number
  /** the first seed */
  readonly from: number
  /** part of the names of the mutants to try; empty: all */
  readonly only: string
  /** subject of all runs; absent: the mutant's own, if it has one */
  readonly about?: string | undefined
  /** no further mutant starts after this many minutes */
  readonly minutes: number
  /** file that saves the results for a later call; absent: not saved */
  readonly results?: string | undefined
  /** prints JSON instead of a table */
  readonly json: boolean
}

/** `seed`: the one that found the mutant; `by`: the finding; `about`: subject of all runs. */
type Outcome =
  | { readonly kind: 'found'; readonly seed: number; readonly by: string; readonly about?: string }
  | { readonly kind: 'missed'; readonly from: number; readonly seeds: number; readonly about?: string }
  /** the mutant's text does not occur exactly once in its file, or the changed sources do not run */
  | { readonly kind: 'broken'; readonly why: string }

type Results = Record<string, Outcome>

/** Returns how many mutants were not found, including those not tried. */
export function runMutants(options: MutantOptions): number {
  const { root, only, minutes, results: file } = options
  const end = process.hrtime.bigint() + BigInt(Math.round(minutes * 6e10))
  const results: Results =
    file !== undefined && existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : {}
  const mutants = MUTANTS.filter(({ name }) => name.includes(only))
  const copy = mkdtempSync(join(tmpdir(), 'reflexarc-mutants-'))
  try {
    for (const path of COPIED) cpSync(join(root, path), join(copy, path), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    for (const mutant of mutants) {
      if (!isToBeTried(mutant, results[mutant.name], options)) continue
      if (process.hrtime.bigint() > end) break
      const outcome = tried(copy, mutant, options)
      results[mutant.name] = outcome
      console.error(rowOf(mutant.name, outcome))
      if (file !== undefined) writeFileSync(file, `${JSON.stringify(results, undefined, 1)}\n`)
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
  const of = mutants.map(({ name }) => [name, results[name]] as const)
  const found = of.filter(([, outcome]) => outcome?.kind === 'found').length
  const table = of.map(([name, outcome]) => rowOf(name, outcome))
  const text = options.json
    ? JSON.stringify(
        Object.fromEntries(of.map(([name, outcome]) => [name, outcome ?? { kind: 'not tried' }])),
        undefined,
        1,
      )
    : [...table, `${found} of ${mutants.length} mutants were found`].join('\n')
  console.log(text)
  return mutants.length - found
}

/** Returns whether to try a missed mutant again: with other seeds, more seeds, or another subject. */
function isToBeTried(mutant: Mutant, before: Outcome | undefined, options: MutantOptions): boolean {
  const { from, seeds, about = mutant.about } = options
  if (before?.kind !== 'missed') return before?.kind !== 'found'
  return about !== before.about || from < before.from || from + seeds > before.from + before.seeds
}

function tried(copy: string, { file, find, replace, ...own }: Mutant, options: MutantOptions): Outcome {
  const { from, seeds, about = own.about } = options
  const path = join(copy, file)
  const source = readFileSync(path, 'utf8')
  const times = source.split(find).length - 1
  if (times !== 1) return { kind: 'broken', why: `its text stands ${times} times in ${file}` }
  writeFileSync(
    path,
    source.replace(find, () => replace),
  )
  const args = ['test/simulator/main.ts', '--from', String(from), '--seeds', String(seeds), '--first']
  if (about !== undefined) args.push('--about', about)
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' })
  writeFileSync(path, source)
  const by = /^(\d+) found \d+:\n {2}(.*)$/m.exec(stdout)
  const had = about !== undefined && { about }
  if (by !== null) return { kind: 'found', seed: Number(by[1]), by: by[2] ?? '', ...had }
  return status === 0 ? { kind: 'missed', from, seeds, ...had } : { kind: 'broken', why: stderr.slice(0, 300) }
}

function rowOf(name: string, outcome: Outcome | undefined): string {
  const told = (): string => {
    if (outcome === undefined) return 'not tried'
    if (outcome.kind === 'broken') return `BROKEN: ${outcome.why}`
    const runs = outcome.about === undefined ? '' : ` about ${outcome.about}`
    if (outcome.kind === 'found') return `seed ${outcome.seed}${runs}, ${outcome.by.slice(0, 60)}`
    return `NOT FOUND in seeds ${outcome.from} to ${outcome.from + outcome.seeds - 1}${runs}`
  }
  return `| ${name} | ${told()} |`
}
