package bench;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.drools.model.codegen.ExecutableModelProject;
import org.kie.api.KieBase;
import org.kie.api.KieServices;
import org.kie.api.builder.KieBuilder;
import org.kie.api.builder.KieFileSystem;
import org.kie.api.builder.Message;
import org.kie.api.runtime.KieSession;
import org.kie.api.runtime.rule.FactHandle;

/**
 * Drives the events of a workload through Drools and prints what it took as one line of JSON. Read from standard input, a
 * word each: kind, rules as constants or as facts, fires, cool-down, ms to warm up, ms to measure, first time, step; then
 * counted lists of rules (or steps and the limit of the chain) and of events.
 */
public final class Drools {
  public static final class Event {
    private final String resource;
    private final double temperature;
    private final double humidity;

    Event(String resource, double temperature, double humidity) {
      this.resource = resource;
      this.temperature = temperature;
      this.humidity = humidity;
    }

    public String getResource() {
      return resource;
    }

    public double getTemperature() {
      return temperature;
    }

    public double getHumidity() {
      return humidity;
    }
  }

  /** A rule as a fact: what it watches, and above what. */
  public static final class Limits {
    private final String resource;
    private final double temperature;
    private final double humidity;

    Limits(String resource, double temperature, double humidity) {
      this.resource = resource;
      this.temperature = temperature;
      this.humidity = humidity;
    }

    public String getResource() {
      return resource;
    }

    public double getTemperature() {
      return temperature;
    }

    public double getHumidity() {
      return humidity;
    }
  }

  /** What one sensor of the chain hands to the next. */
  public static final class Reading {
    private final int step;
    private final double value;

    public Reading(int step, double value) {
      this.step = step;
      this.value = value;
    }

    public int getStep() {
      return step;
    }

    public double getValue() {
      return value;
    }
  }

  /** What rules call when they fire, and what they lack: edges and cool-downs. */
  public static final class Actions {
    private final long coolDownMs;
    private final Map<String, boolean[]> wasFalse = new HashMap<>();
    private final Map<String, long[]> notBefore = new HashMap<>();
    long now;
    long fired;

    Actions(long coolDownMs) {
      this.coolDownMs = coolDownMs;
    }

    public void fire() {
      fired++;
    }

    public void met(String resource) {
      boolean[] unmet = wasFalse.computeIfAbsent(resource, (key) -> new boolean[1]);
      if (!unmet[0]) return;
      unmet[0] = false;
      long[] limit = notBefore.computeIfAbsent(resource, (key) -> new long[1]);
      if (now < limit[0]) return;
      limit[0] = now + coolDownMs;
      fired++;
    }

    public void unmet(String resource) {
      wasFalse.computeIfAbsent(resource, (key) -> new boolean[1])[0] = true;
    }
  }

  private static final String HEAD =
      "package rules;\nimport bench.Drools.Event;\nimport bench.Drools.Limits;\nimport bench.Drools.Reading;\n"
          + "global bench.Drools.Actions actions;\n";

  private final Words words;
  private final Actions actions;
  private final long startMs;
  private final long stepMs;
  private final long warmUpMs;
  private final long measureMs;
  private final List<Event> events = new ArrayList<>();
  private final KieSession session;
  private final boolean hasReadings;
  private long taken;

  private Drools(Words words) {
    this.words = words;
    boolean isChain = words.next().equals("chain");
    boolean asFacts = words.next().equals("facts");
    boolean onEdges = words.next().equals("edge");
    actions = new Actions(words.whole());
    warmUpMs = words.whole();
    measureMs = words.whole();
    startMs = words.whole();
    stepMs = words.whole();
    hasReadings = isChain;
    List<Limits> facts = new ArrayList<>();
    String text = isChain ? chain() : asFacts ? facts(facts, onEdges) : constants(onEdges);
    session = baseOf(HEAD + text).newKieSession();
    session.setGlobal("actions", actions);
    for (Limits one : facts) session.insert(one);
    for (long left = words.whole(); left > 0; left--) {
      events.add(new Event(words.next(), words.number(), words.number()));
    }
  }

  /** A rule for each pair of limits: the network finds those of a resource by a hash. */
  private String constants(boolean onEdges) {
    StringBuilder text = new StringBuilder();
    long count = words.whole();
    for (long i = 0; i < count; i++) {
      String resource = words.next();
      String limits = "temperature > " + words.number() + ", humidity > " + words.number();
      String head = "Event(resource == \"" + resource + "\", ";
      String met = onEdges ? "actions.met(\"" + resource + "\")" : "actions.fire()";
      text.append("rule \"r").append(i).append("\" when ").append(head).append(limits).append(") then ");
      text.append(met).append("; end\n");
      if (!onEdges) continue;
      text.append("rule \"u").append(i).append("\" when ").append(head).append("!(").append(limits.replace(",", " &&"));
      text.append(")) then actions.unmet(\"").append(resource).append("\"); end\n");
    }
    return text.toString();
  }

  /** One rule over limits that are facts, joined by the resource. */
  private String facts(List<Limits> facts, boolean onEdges) {
    long count = words.whole();
    for (long left = count; left > 0; left--) facts.add(new Limits(words.next(), words.number(), words.number()));
    String limits = "temperature < $t, humidity < $h";
    String event = "when Event($r: resource, $t: temperature, $h: humidity) Limits(resource == $r, ";
    String met = onEdges ? "actions.met($r)" : "actions.fire()";
    String text = "rule \"met\" " + event + limits + ") then " + met + "; end\n";
    if (!onEdges) return text;
    return text + "rule \"unmet\" " + event + "!(" + limits.replace(",", " &&") + ")) then actions.unmet($r); end\n";
  }

  /** A rule for each step, which makes the reading of the next one. */
  private String chain() {
    StringBuilder text = new StringBuilder();
    String resource = words.next();
    long count = words.whole();
    text.append("rule \"first\" when Event(resource == \"").append(resource);
    text.append("\", $t: temperature) then insert(new Reading(0, $t)); end\n");
    for (long i = 0; i < count; i++) {
      text.append("rule \"s").append(i).append("\" when $one: Reading(step == ").append(i);
      text.append(", $v: value) then delete($one); insert(new Reading(").append(i + 1).append(", $v * ");
      text.append(words.number()).append(" + ").append(words.number()).append(")); end\n");
    }
    text.append("rule \"last\" when $one: Reading(step == ").append(count).append(", $v: value) then delete($one); ");
    text.append("if ($v > ").append(words.number()).append(") actions.fire(); end\n");
    return text.toString();
  }

  private static KieBase baseOf(String text) {
    KieServices services = KieServices.get();
    KieFileSystem files = services.newKieFileSystem().write("src/main/resources/rules/rules.drl", text);
    KieBuilder builder = services.newKieBuilder(files).buildAll(ExecutableModelProject.class);
    List<Message> errors = builder.getResults().getMessages(Message.Level.ERROR);
    if (!errors.isEmpty()) throw new IllegalStateException(errors.toString());
    return services.newKieContainer(services.getRepository().getDefaultReleaseId()).getKieBase();
  }

  private void take(int count) {
    int size = events.size();
    for (int i = 0; i < count; i++) {
      Event event = events.get((int) (taken % size));
      taken++;
      actions.now = startMs + taken * stepMs;
      FactHandle handle = session.insert(event);
      session.fireAllRules();
      session.delete(handle);
    }
  }

  /** Events that took so many ms of CPU time of this thread. */
  private long spend(long ms) {
    long from = taken;
    long until = cpuNanos() + ms * 1_000_000;
    for (int batch = 1; cpuNanos() < until; ) {
      long began = cpuNanos();
      take(batch);
      if (cpuNanos() - began < 10_000_000) batch *= 2;
    }
    return taken - from;
  }

  private static long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static long allCpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
  }

  public static void main(String[] args) throws Exception {
    long setUp = cpuNanos();
    Drools drools = new Drools(new Words(new BufferedReader(new InputStreamReader(System.in))));
    double setUpMs = (cpuNanos() - setUp) / 1e6;
    drools.spend(drools.warmUpMs);
    long cpu = cpuNanos();
    long all = allCpuNanos();
    long wall = System.nanoTime();
    long measured = drools.spend(drools.measureMs);
    double cpuMs = (cpuNanos() - cpu) / 1e6;
    double otherCpuMs = (allCpuNanos() - all) / 1e6 - cpuMs;
    double wallMs = (System.nanoTime() - wall) / 1e6;
    System.out.printf(
        java.util.Locale.ROOT,
        "{\"events\":%d,\"taken\":%d,\"firings\":%d,\"cpuMs\":%f,\"otherCpuMs\":%f,\"wallMs\":%f,\"setUpMs\":%f}%n",
        measured, drools.taken, drools.actions.fired, cpuMs, Math.max(0, otherCpuMs), wallMs, setUpMs);
  }

  /** The words of a text, one after the other. */
  private static final class Words {
    private final BufferedReader lines;
    private String[] line = new String[0];
    private int at;

    Words(BufferedReader lines) {
      this.lines = lines;
    }

    String next() {
      try {
        while (at == line.length) {
          line = lines.readLine().split(" ");
          at = 0;
        }
        return line[at++];
      } catch (java.io.IOException error) {
        throw new java.io.UncheckedIOException(error);
      }
    }

    long whole() {
      return Long.parseLong(next());
    }

    double number() {
      return Double.parseDouble(next());
    }
  }
}
