/**
 * Builds versions: puts assets and their packages into a folder named by their digest. Equal assets for the same
 * runtime share a folder, which is created once and never changed.
 *
 * FUNCBUILD-1 a folder with its final name is complete, since it is renamed only when finished
 * FUNCBUILD-2 scripts of packages never run, packages come only from the registry, and tools read only checked files:
 *   no tool runs a module of the assets or reads an unchecked lock file
 * FUNCBUILD-3 tenants do not share folders
 * FUNCBUILD-5 every build of a version installs the packages of its first build
 * FUNCBUILD-4 where programs are confined, the tools that install packages are too: these tools see only their own
 *   files and, where the machine supports it, reach only package registries
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
  /** installed packages, one per line; absent when the assets contain a lock file */
  readonly lock?: readonly string[]
  readonly log: readonly string[]
}

export interface BuildRequest {
  readonly owner: string
  readonly runtime: Runtime
  readonly runtimeVersion: string
  readonly assets: Assets
  /** digest of the assets, from `revisionOf` */
  readonly revision: string
  /** packages installed by an earlier build of the version */
  readonly lock?: readonly string[] | undefined
}

export interface BuilderOptions extends InstallerOptions {
  readonly folder: string
  /** reject packages without an exact version */
  readonly requirePinned?: boolean
}

export class Builder {
  readonly #options: BuilderOptions
  readonly #installer: Installer
  /** digests of folders known to exist; only `remove` deletes folders */
  readonly #seen = new Set<string>()
  #tidied: Promise<void> | undefined

  constructor(options: BuilderOptions) {
    this.#options = options
    this.#installer = new Installer(options)
  }

  folderOf(digest: string): string {
    return join(this.#options.folder, digest)
  }

  has(digest: string): boolean {
    if (this.#seen.has(digest)) return true
    const isThere = existsSync(this.folderOf(digest))
    if (isThere) this.#seen.add(digest)
    return isThere
  }

  check(runtime: Runtime, assets: Assets): void {
    checkAssets(runtime, assets, this.#options)
  }

  /** Creates the folder unless it exists. Rejects with a BuildRefusal. */
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
      // a concurrent build may have created the folder
      if (!this.has(digest)) await rename(draft, this.folderOf(digest))
      return { digest, ...made, log }
    } finally {
      await rm(draft, { recursive: true, force: true })
    }
  }

  /** Deletes unfinished folders left by crashed builds. */
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

export function digestOf(owner: string, { name }: Runtime, runtimeVersion: string, revision: string): string {
  return createHash('sha256')
    .update(JSON.stringify([owner, name, runtimeVersion, process.arch, revision]))
    .digest('hex')
}

export function revisionOf(assets: readonly AssetRecord[]): string {
  const hash = createHash('sha256')
  for (const { path, sha256 } of assets) hash.update(JSON.stringify([path, sha256]))
  return hash.digest('hex')
}

/** Throws a BuildRefusal that lists all missing and invalid files. */
export function checkAssets(
  { main, name, language, framework }: Pick<Runtime, 'main' | 'name' | 'language' | 'framework'>,
  assets: Assets,
  options: Pick<PipOptions, 'requirePinned'> = {},
): void {
  if (!assets.has(main)) throw new BuildRefusal(`a function for ${name} has a file ${main}`)
  // models install nothing
  if (framework !== undefined) return
  if (language === 'node') npmCommand(assets)
  else pipCommand(requirementsOf(assets), options)
}

/** File that lists the installed packages; its name is not a valid path of an asset. */
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
  // npm also retries after a wrong digest, by default for minutes
  '--fetch-retry-mintimeout=500',
  '--fetch-retry-maxtimeout=2000',
]

function npmCommand(assets: Assets): InstallCommand | undefined {
  const project = jsonOf(assets, 'package.json')
  const wanted = ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((kind) =>
    Object.keys(isPlainObject(project?.[kind]) ? project[kind] : {}),
  )
  if (project?.['workspaces'] !== undefined) throw new BuildRefusal('package.json may not have workspaces')
  if (wanted.length === 0) return undefined
  if (assets.has('npm-shrinkwrap.json'))
    throw new BuildRefusal('npm-shrinkwrap.json is not supported; rename it to package-lock.json')
  const lock = jsonOf(assets, 'package-lock.json')
  if (lock === undefined) {
    throw new BuildRefusal(
      `package.json requires ${wanted.join(', ')} without a lock: add the package-lock.json of npm install`,
    )
  }
  const { packages, lockfileVersion } = lock
  // lock files of version 1 may list packages without a digest
  if (!isPlainObject(packages) || lockfileVersion === 1) {
    throw new BuildRefusal(
      'package-lock.json has version 1, or lacks "packages": write it with npm 7 or newer, with lockfileVersion 2 or 3',
    )
  }
  for (const [path, entry] of Object.entries(packages)) {
    const problem = path === '' ? undefined : lockProblem(path, entry)
    if (problem !== undefined) throw new BuildRefusal(`package-lock.json, ${path}: ${problem}`)
  }
  return { tool: 'npm', args: NPM }
}

const PACKAGE = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/

function lockProblem(path: string, entry: unknown): string | undefined {
  if (!isPlainObject(entry)) return 'is not an object'
  const { name, version, resolved, integrity, link, inBundle } = entry
  if (link === true) return 'is a link, but only packages of a registry are installed'
  // without a version, npm would choose one itself
  if (typeof version !== 'string' || valid(version) === null) return 'has no version; write one such as 1.2.3'
  if (name !== undefined && (typeof name !== 'string' || !PACKAGE.test(name))) return 'has an invalid package name'
  // bundled, hence part of the package that contains it
  if (inBundle === true && resolved === undefined && /\/node_modules\//.test(path)) return undefined
  // npm can omit the address, and replaces it when the operator configured a registry
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
    // rejected below
  }
  throw new BuildRefusal(`${path} is not a JSON object`)
}

function textOf(assets: Assets, path: string): string | undefined {
  const bytes = assets.get(path)
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes)
}

async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await openToAll(path)
    // drops the links that npm makes for commands, which are not used
    else if (entry.isFile()) await chmod(path, 0o644)
  }
}
