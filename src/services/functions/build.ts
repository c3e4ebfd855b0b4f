/**
 * Builds: assets and the packages that they name, put together in a folder whose name says what is in it. Equal assets
 * for an equal runtime give the same folder, which is made once and never changed.
 *
 * FUNCBUILD-1 a folder that has its name is whole: it is made beside, and renamed when it is done
 * FUNCBUILD-2 no script of a package runs, packages come from the registry alone, and tools read what was
 *   checked: none runs a module of the assets, or reads a lock that nobody looked at
 * FUNCBUILD-3 tenants share no folder
 * FUNCBUILD-5 every build of a version installs the packages that its first build installed
 * FUNCBUILD-4 where programs are confined, so are the tools that install for them: they see no file of the machine that
 *   is not theirs, and reach no host but their registries where the machine lets that be
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { valid } from 'semver'
import { isPlainObject } from '#kernel'
import { lockOf, PIP_REPORT, pipCommand, type PipOptions } from './pip-packages.ts'
import { BuildRefusal } from './build-refusal.ts'
import { type InstallCommand, Installer, type InstallerOptions } from './install.ts'
import type { Assets } from './registry/archive.ts'
import type { AssetRecord } from './function-record.ts'
import type { Runtime } from './runtimes/catalog.ts'

export interface BuildResult {
  readonly digest: string
  /** packages that were installed where the assets leave versions open: a line for each, as `record.build` keeps them */
  readonly lock?: readonly string[]
  /** lines of the tools */
  readonly log: readonly string[]
}

export interface BuildRequest {
  /** tenants share nothing */
  readonly owner: string
  readonly runtime: Runtime
  readonly runtimeVersion: string
  readonly assets: Assets
  /** of the assets, as `revisionOf` gives it */
  readonly revision: string
  /** what an earlier build of the version gave */
  readonly lock?: readonly string[] | undefined
}

export interface BuilderOptions extends InstallerOptions {
  /** absolute path of a folder of its own */
  readonly folder: string
  /** refuses packages without an exact version */
  readonly requirePinned?: boolean
}

export class Builder {
  readonly #options: BuilderOptions
  readonly #installer: Installer
  /** digests whose folders were there: nobody else takes them away */
  readonly #seen = new Set<string>()
  #tidied: Promise<void> | undefined

  constructor(options: BuilderOptions) {
    this.#options = options
    this.#installer = new Installer(options)
  }

  /** Where the result of a build lies. */
  folderOf(digest: string): string {
    return join(this.#options.folder, digest)
  }

  has(digest: string): boolean {
    if (this.#seen.has(digest)) return true
    const isThere = existsSync(this.folderOf(digest))
    if (isThere) this.#seen.add(digest)
    return isThere
  }

  /** Throws a BuildRefusal for what is wrong with the assets. */
  check(runtime: Runtime, assets: Assets): void {
    checkAssets(runtime, assets, this.#options)
  }

  /** Makes it when it is not there. Rejects with a BuildRefusal for what is wrong with the function. */
  async build({ owner, runtime, runtimeVersion, revision, assets, lock }: BuildRequest): Promise<BuildResult> {
    const digest = digestOf(owner, runtime, runtimeVersion, revision)
    this.check(runtime, assets)
    if (this.has(digest)) {
      const kept = await this.#lockIn(this.folderOf(digest))
      return { digest, ...kept, log: ['nothing has changed: the result of an earlier build is used'] }
    }
    await (this.#tidied ??= this.#tidy())
    await mkdir(this.#options.folder, { recursive: true })
    const draft = await mkdtemp(join(this.#options.folder, '.draft-'))
    try {
      const log = await this.#make(runtime, assets, draft, lock)
      const made = await this.#lockIn(draft)
      await openToAll(draft)
      // somebody else may have made the same meanwhile
      if (!this.has(digest)) await rename(draft, this.folderOf(digest))
      return { digest, ...made, log }
    } finally {
      await rm(draft, { recursive: true, force: true })
    }
  }

  /** Takes away what an end amid a build of an earlier run left. */
  async #tidy(): Promise<void> {
    const names = existsSync(this.#options.folder) ? await readdir(this.#options.folder) : []
    for (const name of names) {
      if (name.startsWith('.draft-')) await rm(join(this.#options.folder, name), { recursive: true, force: true })
    }
  }

  async remove(digest: string): Promise<void> {
    this.#seen.delete(digest)
    await rm(this.folderOf(digest), { recursive: true, force: true })
  }

  /** Of a folder that was built, or is about to be. */
  async #lockIn(folder: string): Promise<Pick<BuildResult, 'lock'>> {
    const path = join(folder, LOCK)
    return existsSync(path) ? { lock: (await readFile(path, 'utf8')).trim().split('\n') } : {}
  }

  async #make(
    runtime: Runtime,
    assets: Assets,
    folder: string,
    lock: readonly string[] | undefined,
  ): Promise<readonly string[]> {
    for (const [path, content] of assets) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), content)
    }
    const isNode = runtime.language === 'node'
    const command = isNode ? npmCommand(assets) : pipCommand(requirementsOf(assets), { ...this.#options, lock })
    if (command === undefined) return ['it has no dependencies']
    const { tool, args, file } = command
    if (file !== undefined) await writeFile(join(folder, file.path), file.text)
    const log = [`${tool} ${args.join(' ')}`, ...(await this.#installer.install(command, folder))]
    if (isNode) return log
    const report = join(folder, PIP_REPORT)
    const locked = args.includes(PIP_REPORT) ? lockOf(await readFile(report, 'utf8').catch(() => '')) : (lock ?? [])
    await rm(report, { force: true })
    await writeFile(join(folder, LOCK), `${locked.join('\n')}\n`)
    return [...log, ...locked.map((line) => `locked ${line}`)]
  }
}

/** Of all that decides what a build gives. */
export function digestOf(owner: string, { name }: Runtime, runtimeVersion: string, revision: string): string {
  return createHash('sha256')
    .update(JSON.stringify([owner, name, runtimeVersion, process.arch, revision]))
    .digest('hex')
}

/** 64 hex digits of what the assets are. */
export function revisionOf(assets: readonly AssetRecord[]): string {
  const hash = createHash('sha256')
  for (const { path, sha256 } of assets) hash.update(JSON.stringify([path, sha256]))
  return hash.digest('hex')
}

/** Throws a BuildRefusal that names every file that is missing or cannot be. */
export function checkAssets(
  { main, name, language, framework }: Pick<Runtime, 'main' | 'name' | 'language' | 'framework'>,
  assets: Assets,
  options: Pick<PipOptions, 'requirePinned'> = {},
): void {
  if (!assets.has(main)) throw new BuildRefusal(`a function for ${name} has a file ${main}`)
  // nothing is installed for a model
  if (framework !== undefined) return
  if (language === 'node') npmCommand(assets)
  else pipCommand(requirementsOf(assets), options)
}

/** Where a build keeps the packages that it installed. No asset has such a path. */
const LOCK = '.python-packages.lock'

function requirementsOf(assets: Assets): string {
  return textOf(assets, 'requirements.txt') ?? ''
}

const NPM = [
  'ci',
  '--ignore-scripts',
  '--omit=dev',
  '--no-audit',
  '--no-fund',
  '--loglevel=warn',
  '--install-links=false',
  // what comes with another digest comes again, and npm would wait for minutes in between
  '--fetch-retry-mintimeout=500',
  '--fetch-retry-maxtimeout=2000',
]

/** Undefined when there is nothing to install. */
function npmCommand(assets: Assets): InstallCommand | undefined {
  const project = jsonOf(assets, 'package.json')
  const wanted = ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((kind) =>
    Object.keys(isPlainObject(project?.[kind]) ? project[kind] : {}),
  )
  if (project?.['workspaces'] !== undefined) throw new BuildRefusal('package.json may not have workspaces')
  if (wanted.length === 0) return undefined
  if (assets.has('npm-shrinkwrap.json'))
    throw new BuildRefusal('npm-shrinkwrap.json is not read; call it package-lock.json')
  const lock = jsonOf(assets, 'package-lock.json')
  if (lock === undefined) {
    throw new BuildRefusal(
      `package.json names ${wanted.join(', ')}, and nothing locks it: add the package-lock.json that npm install makes`,
    )
  }
  const { packages, lockfileVersion } = lock
  // of a lock of version 1 npm takes packages that nothing vouches for
  if (!isPlainObject(packages) || lockfileVersion === 1) {
    throw new BuildRefusal(
      'package-lock.json is of version 1, or has no "packages": write it again by npm 7 or newer, with lockfileVersion 2 or 3',
    )
  }
  for (const [place, entry] of Object.entries(packages)) {
    const problem = place === '' ? undefined : lockProblem(place, entry)
    if (problem !== undefined) throw new BuildRefusal(`package-lock.json, ${place}: ${problem}`)
  }
  return { tool: 'npm', args: NPM }
}

/** Of a package by another name than that of its folder. */
const PACKAGE = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/

function lockProblem(place: string, entry: unknown): string | undefined {
  if (!isPlainObject(entry)) return 'is not an object'
  const { name, version, resolved, integrity, link, inBundle } = entry
  if (link === true) return 'is a link, and only packages of a registry are installed'
  // npm asks for both where the lock does not say from where
  if (typeof version !== 'string' || valid(version) === null) return 'has no version; write one such as 1.2.3'
  if (name !== undefined && (typeof name !== 'string' || !PACKAGE.test(name))) return 'has a name that no package has'
  // it comes inside of the package that it is below of
  if (inBundle === true && resolved === undefined && /\/node_modules\//.test(place)) return undefined
  // npm asks the operator's registry in its place, when another one is set
  // npm leaves it out when it is told to; then it is the registry's too
  const isNamed = resolved !== undefined
  if (isNamed && (typeof resolved !== 'string' || !/^https:\/\/registry\.npmjs\.org\/\S+\.tgz$/.test(resolved))) {
    return 'does not come from https://registry.npmjs.org'
  }
  return typeof integrity === 'string' ? undefined : 'has no integrity'
}

function jsonOf(assets: Assets, path: string): Record<string, unknown> | undefined {
  const text = textOf(assets, path)
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (isPlainObject(value)) return value
  } catch {
    // said below
  }
  throw new BuildRefusal(`${path} is no JSON object`)
}

function textOf(assets: Assets, path: string): string | undefined {
  const bytes = assets.get(path)
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes)
}

/** Processes run as users of their own. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await openToAll(path)
    // links are those that npm makes for commands, which nobody runs
    else if (entry.isFile()) await chmod(path, 0o644)
  }
}
