/** `$util` of templates: what JSON needs and Velocity does not have. */
import { type HostMethod, HostObject, JavaList, jsonText } from '#formats/velocity'

const HEX = /^(?:[0-9a-fA-F]{2})*$/

const bytes = (buffer: Buffer): JavaList => new JavaList([...buffer])

const METHODS: ReadonlyMap<string, HostMethod> = new Map<string, HostMethod>([
  ['renderValue', (args, environment) => (args.length === 1 ? jsonText(args[0] ?? null, environment) : undefined)],
  // null for what is none, as Java would not give it either
  ['fromHex', ([text]) => (typeof text === 'string' && HEX.test(text) ? bytes(Buffer.from(text, 'hex')) : null)],
  ['fromBase64', ([text]) => (typeof text === 'string' ? bytes(Buffer.from(text, 'base64')) : null)],
])

/** `renderValue(x)`: x as JSON, null for nothing. `fromHex(text)`, `fromBase64(text)`: a list of bytes, 0 to 255. */
export const UTIL = new HostObject(METHODS)
