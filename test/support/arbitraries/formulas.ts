/** Generates random formulas, as expressions and JSON Logic, that only calculate with the numbers `a` and `b`. */
import fc from 'fast-check'

const literal = fc.constantFrom(0, 1, 2, 3, 0.1, 0.5, 7, 10, 20, 25, 40, 1e300)

interface Texts {
  number: string
  truth: string
}

const texts = fc.letrec<Texts>((tie: fc.LetrecTypedTie<Texts>) => ({
  number: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('a', 'b', 'streamdata.a', '${streamdata.b}'),
    literal.map(String),
    fc
      .tuple(tie('number'), fc.constantFrom('+', '-', '*', '/', '%'), tie('number'))
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    tie('number').map((of) => `-(${of})`),
    fc
      .tuple(fc.constantFrom('abs', 'ceil', 'floor', 'round', 'trunc', 'sign', 'sqrt'), tie('number'))
      .map(([name, of]) => `Math.${name}(${of})`),
    fc
      .tuple(fc.constantFrom('min', 'max'), tie('number'), tie('number'))
      .map(([name, left, right]) => `Math.${name}(${left}, ${right})`),
    fc.tuple(tie('truth'), tie('number'), tie('number')).map(([test, yes, no]) => `(${test} ? ${yes} : ${no})`),
  ),
  truth: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    fc
      .tuple(tie('number'), fc.constantFrom('<', '<=', '>', '>=', '==', '!=', '===', '!=='), tie('number'))
      .map(([left, operator, right]) => `${left} ${operator} ${right}`),
    fc
      .tuple(tie('truth'), fc.constantFrom('&&', '||'), tie('truth'))
      .map(([left, operator, right]) => `((${left}) ${operator} (${right}))`),
    tie('truth').map((of) => `!(${of})`),
    fc
      .tuple(tie('number'), tie('number'), tie('number'))
      .map(([value, low, high]) => `between(${value}, ${low}, ${high})`),
    fc.constantFrom('true', 'false'),
  ),
}))

export const numberText = texts.number
export const truthText = texts.truth

interface Logic {
  number: unknown
  truth: unknown
}

const logic = fc.letrec<Logic>((tie: fc.LetrecTypedTie<Logic>) => ({
  number: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('a', 'b').map((name) => ({ var: name })),
    literal,
    fc
      .tuple(fc.constantFrom('+', '-', '*', '/', '%'), tie('number'), tie('number'))
      .map(([name, left, right]) => ({ [name]: [left, right] })),
  ),
  truth: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    fc
      .tuple(fc.constantFrom('<', '<=', '>', '>=', '==', '!=', '===', '!=='), tie('number'), tie('number'))
      .map(([name, left, right]) => ({ [name]: [left, right] })),
    fc
      .tuple(fc.constantFrom('and', 'or'), fc.array(tie('truth'), { minLength: 2, maxLength: 3 }))
      .map(([name, all]) => ({ [name]: all })),
    tie('truth').map((of) => ({ '!': [of] })),
  ),
}))

export const truthLogic = logic.truth
