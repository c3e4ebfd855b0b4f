/**
 * Lists where src/formats/velocity prints something other than Apache's engines, and why: every template of the corpus
 * by name.
 */
import type { Version } from './judge.ts'

export interface Difference {
  readonly why: string
  readonly templates: readonly string[]
  /** default: both */
  readonly only?: Version
  /** Apache's engine fails while it renders, or prints nothing; ours rejects the text */
  readonly isRefused?: true
}

export const DIFFERENCES: readonly Difference[] = [
  {
    why: 'classes cannot be reached',
    templates: [
      '$s.class',
      '$s.getClass()',
      '$s.class.name',
      '$s.getClass().forName("java.lang.Runtime")',
      '$list.class',
      '$map.class',
      '$map.getClass()',
      '$n.class',
    ],
  },
  { why: 'there are no streams', templates: ['[$s.chars()]', '[$s.lines()]', '[$list.stream()] $list'] },
  {
    why: 'Java 17 prints more digits of floats, and of the smallest doubles, than tell them apart',
    templates: ['[$long.floatValue()]', '[$huge.floatValue()]', '#set($x = 4.9e-324)$x'],
  },
  {
    why: 'a BigInteger that fits a Long again is one',
    templates: ['#set($x = 9223372036854775808)$x.toString() #set($y = $x / 2)$y #set($z = $y + 0.5)$z'],
  },
  {
    why: 'Apache fails with a NullPointerException of its own while it writes its log',
    templates: ['#set($r = true + 1)$r', '#set($r = [1] + [2])$r'],
    only: '2.4',
  },
  {
    why: 'Apache finds several methods and fails',
    templates: ['[$s.length(1)]', '$name.length(abc)'],
    only: '1.7',
  },
  {
    why: 'what stands right behind a reference is read for itself: a brace is text, verbatim text ends the reference',
    templates: ['$n{$name}', '$n{$name', '$n#[[a]]#[b'],
  },
  { why: 'the same, in 1.7', templates: ['$n{x'], only: '1.7' },
  { why: 'templates have no names', templates: ['#foreach($a in $list)$foreach.info#end'] },
  {
    why: 'directives without what they need are refused when they are read',
    templates: [
      '#foreach($a $list)$a#end',
      '#foreach($a in)$a#end',
      '#foreach()#end',
      '#foreach',
      '#define()a#end',
      '#define',
    ],
    only: '1.7',
    isRefused: true,
  },
  { why: '#literal of 1.7 does not exist: #[[ ]]# does the same', templates: ['#literal()$name#end'], only: '1.7' },
]

export function differenceOf(template: string, version: Version): Difference | undefined {
  return DIFFERENCES.find(
    ({ templates, only }) => templates.includes(template) && (only === undefined || only === version),
  )
}
