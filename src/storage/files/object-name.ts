/**
 * Converts between paths of objects and file names that every file system accepts and distinguishes.
 * A path is cut into pieces of 60 bytes; all but the last become folders. A name has at most 182 characters and is
 * never `.` or `..`. Sorting by decoded pieces sorts by path.
 */
const PIECE = 60
const PLAIN = /^[a-z0-9_.-]$/

const FOLDER = '.d'
const OBJECT = '.o'

export function objectNames(path: string): { readonly folders: readonly string[]; readonly file: string } {
  const bytes = Buffer.from(path)
  const pieces: string[] = []
  for (let at = 0; at < bytes.length; at += PIECE) pieces.push(encode(bytes.subarray(at, at + PIECE)))
  const last = pieces.pop() ?? ''
  return { folders: pieces.map((piece) => piece + FOLDER), file: last + OBJECT }
}

/** Undefined for a name of another origin. */
export function pieceOf(name: string): { readonly kind: 'folder' | 'object'; readonly bytes: Buffer } | undefined {
  const ending = name.slice(-2)
  if (ending !== FOLDER && ending !== OBJECT) return undefined
  const kind = ending === FOLDER ? 'folder' : 'object'
  const bytes = decode(name.slice(0, -2))
  if (bytes.length === 0 || bytes.length > PIECE || (kind === 'folder' && bytes.length < PIECE)) return undefined
  return encode(bytes) + ending === name ? { kind, bytes } : undefined
}

export function tenantName(id: string): string {
  return `t-${encode(Buffer.from(id))}`
}

/** Undefined for a folder of another origin. */
export function tenantOf(name: string): string | undefined {
  if (!name.startsWith('t-')) return undefined
  const id = decode(name.slice(2)).toString()
  return tenantName(id) === name ? id : undefined
}

function encode(bytes: Buffer): string {
  let name = ''
  for (const byte of bytes) {
    const sign = String.fromCharCode(byte)
    if (sign === '/') name += '+'
    else name += PLAIN.test(sign) ? sign : `%${byte.toString(16).padStart(2, '0')}`
  }
  return name
}

/** Decodes a name to bytes. A name that this program did not write does not encode to the same text again. */
function decode(text: string): Buffer {
  const bytes: number[] = []
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '+') {
      bytes.push(0x2f)
    } else if (text[at] === '%') {
      bytes.push(Number.parseInt(text.slice(at + 1, at + 3), 16) || 0)
      at += 2
    } else {
      bytes.push(text.charCodeAt(at))
    }
  }
  return Buffer.from(bytes)
}
