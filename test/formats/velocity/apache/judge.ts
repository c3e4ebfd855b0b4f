/**
 * Runs Apache's own engines as the reference for src/formats/velocity: Velocity 1.7 and 2.4.1 of Maven Central, run by
 * Java on the machine. `npm run judge:velocity` records their output for the corpus again; this requires Java and
 * Maven.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

export const VERSIONS = ['1.7', '2.4'] as const
export type Version = (typeof VERSIONS)[number]

export interface Asked {
  readonly template: string
  readonly data: object
}

/** The output of the engine, or whether it rejected the text or failed while it rendered. */
export type Verdict = { readonly output: string } | { readonly error: 'parse' | 'run'; readonly message: string }

const JAVA = join(import.meta.dirname, 'java')
const BUILT = join(import.meta.dirname, '../../../node_modules/.cache/velocity-judge')

/** False without Java, or without Maven to fetch the engines once. */
export function hasJudge(): boolean {
  const has = (tool: string): boolean => spawnSync(tool, ['-version'], { stdio: 'ignore' }).status === 0
  return has('javac') && (VERSIONS.every((version) => isBuilt(version)) || has('mvn'))
}

export function judge(version: Version, asked: readonly Asked[]): readonly Verdict[] {
  return run(version, asked).map((line) => JSON.parse(line) as Verdict)
}

function run(version: Version, asked: readonly Asked[]): readonly string[] {
  build(version)
  const classes = join(BUILT, version)
  const path = `${classes}:${readFileSync(join(classes, 'class-path'), 'utf8').trim()}`
  const text = execFileSync('java', ['-cp', path, 'Judge'], {
    input: asked.map((one) => JSON.stringify(one)).join('\n'),
    maxBuffer: 1024 * 1024 * 1024,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  return text.trim().split('\n')
}

function isBuilt(version: Version): boolean {
  const compiled = join(BUILT, version, 'Judge.class')
  return existsSync(compiled) && statSync(compiled).mtimeMs > statSync(join(JAVA, 'Judge.java')).mtimeMs
}

function build(version: Version): void {
  if (isBuilt(version)) return
  const classes = join(BUILT, version)
  mkdirSync(classes, { recursive: true })
  const classPath = join(classes, 'class-path')
  const goal = ['dependency:build-classpath', `-Dmdep.outputFile=${classPath}`]
  execFileSync('mvn', ['-q', '-f', join(JAVA, 'pom.xml'), '-P', version, ...goal])
  const libraries = readFileSync(classPath, 'utf8').trim()
  execFileSync('javac', ['-nowarn', '-Xlint:none', '-cp', libraries, '-d', classes, join(JAVA, 'Judge.java')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
