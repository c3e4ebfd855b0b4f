/** Implements Java's `String.format` for the conversions that templates use: b c d e f n o s x X and %. */
import { failed } from '../fault.ts'
import { JavaCharacter } from '../values/character.ts'
import { JavaDecimal } from '../values/decimal.ts'
import { doubleOf, isNumber, isWhole } from '../values/numbers.ts'
import { shownText } from '../values/text.ts'
import type { Environment, Value } from '../values/value.ts'

const SPEC = /%(?:(\d{1,3})\$)?([-#+ 0,(]*)(\d{1,4})?(?:\.(\d{1,3}))?([a-zA-Z%])/g
const CONVERSIONS = new Set('bBcCdeEfnosSxXh%')

export function formatted(pattern: string, args: readonly Value[], environment: Environment): string {
  let next = 0
  if (pattern.replace(SPEC, '').includes('%')) throw failed(`the format "${pattern.slice(0, 80)}" is malformed`)
  const made = pattern.replace(
    SPEC,
    (
      _all,
      index: string | undefined,
      flags: string,
      width: string | undefined,
      precision: string | undefined,
      conversion: string,
    ) => {
      if (!CONVERSIONS.has(conversion))
        throw failed(`the format has the conversion %${conversion}, which is not supported`)
      if (conversion === '%') return '%'
      if (conversion === 'n') return '\n'
      const position = index === undefined ? next++ : Number(index) - 1
      if (position >= args.length) throw failed(`the format lacks an argument for %${conversion}`)
      const text = converted(
        args[position] ?? null,
        conversion,
        flags,
        precision === undefined ? undefined : Number(precision),
        environment,
      )
      return padded(text, flags, Number(width ?? 0), conversion)
    },
  )
  environment.budget.make(made.length)
  return made
}

function converted(
  value: Value,
  conversion: string,
  flags: string,
  precision: number | undefined,
  environment: Environment,
): string {
  const kind = conversion.toLowerCase()
  const text =
    kind === 's' || value === null || kind === 'b' || kind === 'h'
      ? plain(value, kind, environment).slice(0, precision)
      : ofKind(value, kind, flags, precision)
  return conversion === kind ? text : text.toUpperCase()
}

function plain(value: Value, kind: string, environment: Environment): string {
  if (kind !== 'b') return shownText(value, environment)
  return String(typeof value === 'boolean' ? value : value !== null)
}

function ofKind(value: Value, kind: string, flags: string, precision: number | undefined): string {
  if (kind === 'c' && value instanceof JavaCharacter) return value.text
  if (kind === 'c' && typeof value === 'number' && Number.isInteger(value))
    return String.fromCodePoint(Math.abs(value) % 0x110000)
  if (!isNumber(value)) throw failed(`the format cannot show a value as %${kind}`)
  if (kind === 'd' || kind === 'x' || kind === 'o') {
    if (!isWhole(value)) throw failed(`the format cannot show a fraction as %${kind}`)
    return kind === 'd'
      ? signed(BigInt(value) < 0n, grouped(String(value).replace('-', ''), flags), flags)
      : unsigned(BigInt(value), kind)
  }
  if (isWhole(value)) throw failed(`the format cannot show a whole number as %${kind}`)
  const double = doubleOf(value)
  const size = Math.abs(double)
  const digits = precision ?? 6
  if (kind === 'f')
    return signed(
      double < 0 || Object.is(double, -0),
      grouped(fixed(value instanceof JavaDecimal ? value : size, digits), flags),
      flags,
    )
  return signed(double < 0, size.toExponential(digits).replace(/e([+-])(\d)$/, 'e$10$2'), flags)
}

/** Rounds half up to the printed digits, as Java does. */
function fixed(size: number | JavaDecimal, digits: number): string {
  const decimal = typeof size === 'number' ? JavaDecimal.parse(String(size)) : size
  if (decimal === undefined) return typeof size === 'number' ? String(size) : size.textIn()
  const unscaled = decimal.unscaled < 0n ? -decimal.unscaled : decimal.unscaled
  const drop = decimal.scale - digits
  const power = 10n ** BigInt(Math.abs(drop))
  const shown = drop <= 0 ? unscaled * power : (unscaled + power / 2n) / power
  const text = shown.toString().padStart(digits + 1, '0')
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`
}

function grouped(text: string, flags: string): string {
  return flags.includes(',') ? text.replace(/\B(?<!\.\d{0,400})(?=(?:\d{3})+(?!\d))/g, ',') : text
}

function signed(isNegative: boolean, text: string, flags: string): string {
  if (isNegative) return flags.includes('(') ? `(${text})` : `-${text}`
  return flags.includes('+') ? `+${text}` : flags.includes(' ') ? ` ${text}` : text
}

function unsigned(value: bigint, kind: string): string {
  const isInt = BigInt.asIntN(32, value) === value
  return BigInt.asUintN(isInt ? 32 : 64, value).toString(kind === 'x' ? 16 : 8)
}

function padded(text: string, flags: string, width: number, conversion: string): string {
  if (flags.includes('-')) return text.padEnd(width)
  if (!flags.includes('0') || 'scb'.includes(conversion.toLowerCase())) return text.padStart(width)
  const [sign = ''] = /^[-+ (]?/.exec(text) ?? []
  return sign + text.slice(sign.length).padStart(width - sign.length, '0')
}
