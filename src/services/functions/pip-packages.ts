/** Checks Python requirements, and builds the pip command and the lock of the first build. */
import { isPlainObject } from '#kernel'
import { BuildRefusal } from './build-refusal.ts'
import type { InstallCommand } from './install.ts'

const PROJECT = 'requirements.txt'
const NAME = String.raw`[A-Za-z0-9][A-Za-z0-9._-]*(?:[ \t]*\[[A-Za-z0-9._, \t-]+\])?`
const BOUND = String.raw`(?:===?|[~!<>]=|[<>])[ \t]*[A-Za-z0-9*][A-Za-z0-9.*!+_-]*`
/** Matches markers and hashes. A `-` after a blank is excluded, since it would begin an option. */
const REST = String.raw`(?:[ \t]*;(?:[\w.,<>=!~'"()]|[ \t]+(?!-)|(?<![ \t])-)*)?(?:[ \t]+--hash=sha256:[0-9a-f]{64})*`
const REQUIREMENT = new RegExp(`^${NAME}(?:[ \\t]*${BOUND}(?:[ \\t]*,[ \\t]*${BOUND})*)?${REST}$`)
const PINNED = new RegExp(`^${NAME}[ \\t]*==[ \\t]*[A-Za-z0-9.!+_-]+${REST}$`)
const LOCKED = /^[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.!+_-]+(?: --hash=sha256:[0-9a-f]{64})?$/
/** File for the checked lines, since pip splits lines differently; its name is not a valid path of an asset. */
const REQUIREMENTS = '.requirements.txt'
export const PIP_REPORT = '.pip-report.json'
// bytecode is compiled now, since processes cannot write it
const ARGS = [
  'install',
  '--only-binary=:all:',
  '--no-input',
  '--no-warn-conflicts',
  '--disable-pip-version-check',
  '--no-cache-dir',
] as const

export interface PipOptions {
  readonly lock?: readonly string[] | undefined
  readonly requirePinned?: boolean | undefined
}

export function pipCommand(text: string, { lock, requirePinned = false }: PipOptions): InstallCommand | undefined {
  const lines = text
    .replaceAll(/\\\r?\n/g, ' ')
    .split(/\r?\n/)
    .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
    .filter((line) => line !== '')
  const wrong = lines.find((line) => !REQUIREMENT.test(line))
  if (wrong !== undefined) {
    const right = 'write a package of the registry, such as name, name>=1.2 or name==1.2.3'
    throw new BuildRefusal(`${PROJECT}: "${wrong.slice(0, 100)}" is not accepted; ${right}`)
  }
  const open = requirePinned ? lines.find((line) => !PINNED.test(line)) : undefined
  if (open !== undefined) {
    const rule = 'this host requires exact versions (--require-pinned)'
    throw new BuildRefusal(`${PROJECT}: "${open.slice(0, 100)}" does not pin a version; write name==1.2.3: ${rule}`)
  }
  if (lines.length === 0) return undefined
  const locked = lock?.every((line) => LOCKED.test(line)) === true ? lock : undefined
  const wanted = locked ?? lines
  const hashed = wanted.every((line) => line.includes('--hash=')) ? ['--require-hashes'] : []
  const mode = locked === undefined ? ['--report', PIP_REPORT] : ['--no-deps']
  return {
    tool: 'pip',
    args: [...ARGS, ...hashed, ...mode, '--target', 'python_modules', '-r', REQUIREMENTS],
    file: { path: REQUIREMENTS, text: `${wanted.join('\n')}\n` },
  }
}

export function lockOf(report: string): readonly string[] {
  let read: unknown
  try {
    read = JSON.parse(report)
  } catch {
    // rejected below
  }
  const installed: unknown = isPlainObject(read) ? read['install'] : undefined
  const lines = Array.isArray(installed) ? installed.map(lockedLine) : []
  if (lines.length === 0 || lines.some((line) => line === undefined)) {
    throw new BuildRefusal('pip did not report the installed packages; this host requires pip 22.2 or newer')
  }
  return lines.flatMap((line) => line ?? []).sort()
}

function lockedLine(one: unknown): string | undefined {
  if (!isPlainObject(one)) return undefined
  const { metadata, download_info: from } = one
  const { name, version } = isPlainObject(metadata) ? metadata : {}
  const archive = isPlainObject(from) ? from['archive_info'] : undefined
  const { hash } = isPlainObject(archive) ? archive : {}
  const digest = typeof hash === 'string' ? /^sha256=([0-9a-f]{64})$/.exec(hash)?.[1] : undefined
  const line = `${String(name)}==${String(version)}${digest === undefined ? '' : ` --hash=sha256:${digest}`}`
  return LOCKED.test(line) ? line : undefined
}
