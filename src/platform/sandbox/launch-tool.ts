/** Starts npm and pip confined, since they read untrusted packages; a given socket is their only network. */
import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ENTER_VIEW, LEAVE_FILES, MAKE_VIEW, RUN_WITHOUT_CAPABILITIES } from './file-view.ts'
import { raiseLoopback, relayed } from './closed-network.ts'
import { type Machine, nextUser } from './inspect-machine.ts'
import type { Launch } from './launch.ts'

export interface ToolRequest {
  readonly tool: 'npm' | 'pip'
  readonly args: readonly string[]
  readonly folder: string
  readonly home: string
  readonly readable: readonly string[]
  /** Absolute path of a proxy socket, the tool's only network; the proxy is reached at PROXY */
  readonly socket?: string | undefined
}

export interface ToolLaunch extends Launch {
  /** Required owner of both folders; undefined: the user of this process */
  readonly user: number | undefined
}

export type LaunchTool = (request: ToolRequest) => ToolLaunch | string

export interface ToolOptions {
  readonly machine: Machine
  readonly emptyFolder: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

const UNSHARE = '/usr/bin/unshare'
const SYSTEM = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/ssl', '/etc/pki', '/etc/ca-certificates']
const TASKS = 64
const OPEN_FILES = 1_024
/** Maximum file size in blocks of 512 bytes: half a gigabyte */
const FILE_BLOCKS = 1_048_576

const NETWORK = ': network'

/** Arguments: the empty folder, the user or `-`, paths to read up to `--`, paths to write up to `--`, the command. */
const CONFINE = `set -e
root=$1 user=$2; shift 2
paths=$PATH
PATH=/usr/bin:/bin:/usr/sbin:/sbin
${NETWORK}
${MAKE_VIEW}while [ "$1" != -- ]; do if [ -e "$1" ]; then show "$1" ro,nosuid,nodev; fi; shift; done; shift
while [ "$1" != -- ]; do show "$1" rw,nosuid,nodev; folder=\${folder:-$1}; shift; done; shift
${ENTER_VIEW}cd "$folder"
${LEAVE_FILES}PATH=$paths
ulimit -c 0; ulimit -n ${OPEN_FILES}; ulimit -f ${FILE_BLOCKS}
if [ "$user" = - ]; then own=; else own="--reuid=$user --regid=$user --clear-groups"; ulimit -p ${TASKS}; fi
${RUN_WITHOUT_CAPABILITIES}`

export function confinedTools({ machine, emptyFolder, environment }: ToolOptions): LaunchTool {
  return ({ tool, args, folder, home, readable, socket }) => {
    const found = tool === 'npm' ? npmOf(machine, environment) : pipOf(machine)
    if (typeof found === 'string') return found
    const user = nextUser()
    const userFlags = user === undefined ? ['--map-root-user'] : []
    const way = socket === undefined ? [] : [socket, process.execPath]
    const shown = outermost([...found.readable, ...SYSTEM, ...readable, ...way])
    const paths = [...shown, '--', folder, home, '--']
    const spaces = ['--mount', '--pid', '--ipc', '--fork', '--kill-child', ...(socket === undefined ? [] : ['--net'])]
    const lo = raiseLoopback(machine.interpreters.get('python')?.path)
    const text = socket === undefined ? CONFINE : CONFINE.replace(NETWORK, () => lo)
    const script = ['/bin/sh', '-c', text, 'tool', emptyFolder, String(user ?? '-')]
    const toolCommand = [...found.command, ...args]
    const command = socket === undefined ? toolCommand : relayed(process.execPath, socket, toolCommand)
    return { command: UNSHARE, args: [...userFlags, ...spaces, ...script, ...paths, ...command], user }
  }
}

interface Found {
  readonly command: readonly string[]
  readonly readable: readonly string[]
}

function npmOf({ interpreters }: Machine, { PATH = '' }: ToolOptions['environment']): Found | string {
  const node = interpreters.get('node')
  if (node === undefined) return 'is disabled on this host, which cannot sandbox programs; /health states the reason'
  for (const folder of PATH.split(':')) {
    const main = realPath(join(folder, 'npm'))
    if (main?.endsWith('npm-cli.js') !== true) continue
    return { command: [node.path, main], readable: [node.path, ...node.readable, dirname(dirname(main))] }
  }
  return 'is not installed on this host'
}

function pipOf({ interpreters }: Machine): Found | string {
  const python = interpreters.get('python')
  if (python === undefined) return 'is disabled on this host, which cannot sandbox programs; /health states the reason'
  return { command: [python.path, '-I', '-m', 'pip'], readable: [python.path, ...python.readable] }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

function outermost(paths: readonly string[]): readonly string[] {
  const distinct = [...new Set(paths)]
  return distinct.filter((path) => !distinct.some((other) => other !== path && path.startsWith(`${other}/`)))
}
