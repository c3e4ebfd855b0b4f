/**
 * Drools as a peer: a session that inserts each event as a fact, fires its rules and retracts it. Up to a hundred rules
 * are rules with constants, found by a hash of the resource; more are facts joined with one rule, which is faster and
 * avoids half a minute of compilation. In `w3` edges and cool-downs are implemented in the called code; `w4` is a rule
 * per step.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { START_MS, STEP_MS } from '../events.ts'
import type { ThroughputSample } from '../subject.ts'
import { expectFirings, type Workload } from '../workload.ts'

const SOURCES = import.meta.dirname
const BUILT = join(SOURCES, '../../node_modules/.cache/bench-drools')
const MOST_CONSTANTS = 100
/** ms of CPU time, for the JIT of Java */
const WARM_UP_MS = 3_000

type Answer = ThroughputSample & { readonly taken: number }

export async function droolsSample(workload: Workload, measureMs: number): Promise<ThroughputSample> {
  build()
  const libraries = readFileSync(join(BUILT, 'class-path'), 'utf8').trim()
  const { status, stdout, stderr } = spawnSync('java', ['-cp', `${BUILT}:${libraries}`, 'bench.Drools'], {
    input: textOf(workload, measureMs),
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`drools: ${stderr.trim()}`)
  const { taken, ...sample } = JSON.parse(stdout) as Answer
  expectFirings(workload, 'drools', { firings: sample.firings, taken })
  return sample
}

/** One word each, in the order of Drools.java. */
function textOf(workload: Workload, measureMs: number): string {
  const words: (string | number)[] = [workload.kind]
  const times = [WARM_UP_MS, measureMs, START_MS, STEP_MS]
  if (workload.kind === 'chain') {
    const { resource, steps, limit } = workload
    words.push('constants', 'every', 0, ...times, resource, steps.length)
    words.push(...steps.flatMap(({ factor, offset }) => [factor, offset]), limit)
  } else {
    const { limits, fires, coolDownMs } = workload
    words.push(limits.length > MOST_CONSTANTS ? 'facts' : 'constants', fires, coolDownMs, ...times, limits.length)
    words.push(...limits.flatMap(({ resource, temperature, humidity }) => [resource, temperature, humidity]))
  }
  const events = workload.events.map(({ resource, temperature, humidity }) => `${resource} ${temperature} ${humidity}`)
  return `${words.join(' ')}\n${events.length}\n${events.join('\n')}\n`
}

/** Builds once, and again when the source is newer: Maven fetches the engine, javac compiles the driver. */
function build(): void {
  const source = join(SOURCES, 'Drools.java')
  const compiled = join(BUILT, 'bench/Drools.class')
  if (existsSync(compiled) && statSync(compiled).mtimeMs > statSync(source).mtimeMs) return
  mkdirSync(BUILT, { recursive: true })
  const classPath = join(BUILT, 'class-path')
  const goal = ['dependency:build-classpath', `-Dmdep.outputFile=${classPath}`]
  execFileSync('mvn', ['-q', '-f', join(SOURCES, 'pom.xml'), ...goal], { stdio: ['ignore', 2, 2] })
  const libraries = readFileSync(classPath, 'utf8').trim()
  execFileSync('javac', ['-nowarn', '-Xlint:none', '-cp', libraries, '-d', BUILT, source], { stdio: ['ignore', 2, 2] })
}
