/** Installs packages with npm or pip, in a separate home with the operator's settings; confined where possible. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, lchown, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type LaunchTool, openRegistryProxy, originOf, PROXY, type RegistryProxy } from '#platform/sandbox'
import { BuildRefusal } from './build-refusal.ts'

export interface InstallerOptions {
  /** absolute path of the folder for homes */
  readonly folder: string
  /** environment of this process; only the variables in `PASSED_ON` reach the tools */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** confines the tools; undefined: they run unconfined */
  readonly tools?: () => Promise<InstallTools | undefined>
  /** hosts allowed in addition to those in the settings of npm and pip */
  readonly installFrom?: readonly string[]
  readonly toolMs?: number
}

export interface InstallTools {
  readonly launch: LaunchTool
  readonly isClosed: boolean
}

export interface InstallCommand {
  readonly tool: 'npm' | 'pip'
  readonly args: readonly string[]
  readonly file?: { readonly path: string; readonly text: string }
}

const TOOL_MS = 600_000
const MAX_LOG_LINES = 200
const MAX_LINE = 500
const PIP_ERROR = /^ERROR: /
const PASSED_ON = [
  'PATH',
  'HTTPS_PROXY',
  'https_proxy',
  'NO_PROXY',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'HOME',
]
const CERTIFICATES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE']
const NPMRC = '.npmrc'
const PIP_CONF = ['.config/pip/pip.conf', '.pip/pip.conf'] as const

/** Variables that override all proxy settings of both tools. */
const BY_PROXY: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      'HTTP_PROXY',
      'HTTPS_PROXY',
      'http_proxy',
      'https_proxy',
      'PIP_PROXY',
      'npm_config_proxy',
      'npm_config_https_proxy',
    ].map((name) => [name, PROXY]),
  ),
  NO_PROXY: '',
  no_proxy: '',
  npm_config_noproxy: '',
}

export class Installer {
  readonly #options: InstallerOptions

  constructor(options: InstallerOptions) {
    this.#options = options
  }

  /** Installs packages and returns the log. Rejects with a BuildRefusal. */
  async install({ tool, args }: InstallCommand, folder: string): Promise<readonly string[]> {
    const { environment, tools } = this.#options
    const env = Object.fromEntries(PASSED_ON.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])))
    const confined = await tools?.()
    if (confined === undefined) {
      const plain =
        tool === 'npm' ? { command: 'npm', args } : { command: 'python3', args: ['-I', '-m', 'pip', ...args] }
      return this.#run(tool, plain, { cwd: folder, env })
    }
    const home = await mkdtemp(join(this.#options.folder, '.draft-home-'))
    // the path of a socket is limited to about a hundred characters
    const socketFolder = await mkdtemp(join(tmpdir(), 'reflexarc-'))
    const socket = join(socketFolder, 'registries')
    let proxy: RegistryProxy | undefined
    try {
      await copySettings(environment['HOME'], home)
      if (confined.isClosed) proxy = await this.#openProxy(tool, socket, home)
      const readable = CERTIFICATES.flatMap((name) => environment[name] ?? [])
      const launch = confined.launch({ tool, args, folder, home, readable, ...(proxy && { socket }) })
      if (typeof launch === 'string') throw new BuildRefusal(`${tool} ${launch}`)
      if (launch.user !== undefined) for (const one of [folder, home, socketFolder]) await chownAll(one, launch.user)
      const confinedEnv = { ...env, ...(proxy && BY_PROXY), HOME: home, TMPDIR: home }
      return await this.#run(tool, launch, { cwd: '/', env: confinedEnv }, proxy?.refused)
    } finally {
      await proxy?.close()
      await rm(home, { recursive: true, force: true })
      await rm(socketFolder, { recursive: true, force: true })
      // the user id may be reused for another process
      const user = process.getuid?.()
      if (user === 0) await chownAll(folder, user)
    }
  }

  async #openProxy(tool: 'npm' | 'pip', socket: string, home: string): Promise<RegistryProxy> {
    const { environment, installFrom = [] } = this.#options
    const settings = await settingsIn(home)
    return openRegistryProxy({
      socket,
      allowed: registryHosts(tool, settings, installFrom),
      upstream: upstreamOf(tool, settings, environment),
    })
  }

  #run(
    tool: string,
    { command, args }: { readonly command: string; readonly args: readonly string[] },
    environment: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
    refused: ReadonlySet<string> = new Set(),
  ): Promise<readonly string[]> {
    const { toolMs = TOOL_MS } = this.#options
    return new Promise((resolve, reject) => {
      const options = { ...environment, timeout: toolMs, killSignal: 'SIGKILL', maxBuffer: 10_485_760 } as const
      execFile(command, args, options, (error, out, err) => {
        const kept = [...refused].map((one) => `it requested ${one}, which is not an allowed registry of this host`)
        const log = [...logOf([...out.split('\n'), ...err.split('\n')]), ...kept]
        if (error === null) return resolve(log)
        if (error.code === 'ENOENT') return reject(new BuildRefusal(`${tool} is not installed on this host`, log))
        const reason = error.killed === true ? `it took more than ${toolMs} ms` : `it ended with ${error.code}`
        const cause = log.findLast((line) => PIP_ERROR.test(line))?.replace(PIP_ERROR, ': ') ?? ''
        reject(new BuildRefusal(`${tool} did not install the packages: ${reason}${cause}`, log))
      })
    })
  }
}

async function copySettings(from: string | undefined, home: string): Promise<void> {
  if (from === undefined) return
  for (const path of [NPMRC, ...PIP_CONF]) {
    if (!existsSync(join(from, path))) continue
    await mkdir(dirname(join(home, path)), { recursive: true })
    await copyFile(join(from, path), join(home, path))
  }
}

async function settingsIn(home: string): Promise<ToolSettings> {
  const textOf = async (path: string): Promise<string> =>
    existsSync(join(home, path)) ? readFile(join(home, path), 'utf8') : ''
  return { npmrc: await textOf(NPMRC), pipConf: (await Promise.all(PIP_CONF.map(textOf))).join('\n') }
}

async function chownAll(folder: string, user: number): Promise<void> {
  await lchown(folder, user, user)
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    await lchown(join(entry.parentPath, entry.name), user, user)
  }
}

function logOf(lines: readonly string[]): readonly string[] {
  const log = lines.map((line) => line.trimEnd().slice(0, MAX_LINE)).filter((line) => line !== '')
  return log.length <= MAX_LOG_LINES
    ? log
    : [...log.slice(0, MAX_LOG_LINES), `${log.length - MAX_LOG_LINES} more lines`]
}

interface ToolSettings {
  readonly npmrc: string
  readonly pipConf: string
}

const NPM = 'https://registry.npmjs.org'
const PYPI = ['https://pypi.org', 'https://files.pythonhosted.org']
const NPM_REGISTRY = /^[ \t]*((?:@[^:=\s]+:)?registry)[ \t]*=[ \t]*"?([^\s"]+)/gm
const ADDRESS = /https?:\/\/[^\s'",]+/g
const PROXY_LINE = /^[ \t]*(?:https[-_])?proxy[ \t]*=[ \t]*"?([^\s"]+)/m

/** Determines the hosts of package registries: those in the operator's settings, or the public ones. */
export function registryHosts(
  tool: 'npm' | 'pip',
  { npmrc, pipConf }: ToolSettings,
  more: readonly string[],
): ReadonlySet<string> {
  const named = tool === 'npm' ? npmRegistries(npmrc) : pipIndexes(pipConf)
  const origins = named.flatMap((address) => (URL.canParse(address) ? [originOf(new URL(address))] : []))
  return new Set([...origins, ...more.map((one) => (/:\d+$/.test(one) ? one : `${one}:443`).toLowerCase())])
}

function npmRegistries(npmrc: string): readonly string[] {
  const found = [...npmrc.matchAll(NPM_REGISTRY)].map(([, key = '', address = '']) => [key, address] as const)
  const addresses = found.map(([, address]) => address)
  return found.some(([key]) => key === 'registry') ? addresses : [NPM, ...addresses]
}

function pipIndexes(pipConf: string): readonly string[] {
  const lines = pipConf.split('\n').filter((line) => !PROXY_LINE.test(line))
  const addresses = [...lines.join('\n').matchAll(ADDRESS)].map(([address]) => address)
  const hasIndex = lines.some((line) => /^[ \t]*index[-_]url[ \t]*=/.test(line))
  const isPublic =
    !hasIndex || addresses.some((address) => URL.canParse(address) && new URL(address).host === 'pypi.org')
  return isPublic ? [...PYPI, ...addresses] : addresses
}

export function upstreamOf(
  tool: 'npm' | 'pip',
  { npmrc, pipConf }: ToolSettings,
  environment: Readonly<Record<string, string | undefined>>,
): (host: string) => URL | undefined {
  const { HTTPS_PROXY, https_proxy: lower, NO_PROXY, no_proxy: lowerNo } = environment
  const configured = PROXY_LINE.exec(tool === 'npm' ? npmrc : pipConf)?.[1]
  const text = [configured, HTTPS_PROXY, lower].find((one) => one !== undefined && one !== '') ?? ''
  const proxy = URL.canParse(text) ? new URL(text) : undefined
  const without = (NO_PROXY ?? lowerNo ?? '').split(',').map((one) => one.trim().replace(/^\*?\./, ''))
  const isWithout = (host: string): boolean =>
    without.some((one) => one === '*' || (one !== '' && (host === one || host.endsWith(`.${one}`))))
  return (host) => (isWithout(host) ? undefined : proxy)
}
