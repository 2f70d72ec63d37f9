package agents;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.commons.AnalyzerAdapter;

/** Counts before each instruction, and on each way out of a branch. Needs expanded frames. */
final class InstructionProbes extends AnalyzerAdapter {
  private final String method;
  private int line;

  InstructionProbes(
      MethodVisitor next, String owner, int access, String name, String descriptor) {
    super(Opcodes.ASM9, owner, access, name, descriptor, next);
    this.method = owner + "." + name + descriptor;
  }

  /** Types as frames list them: one entry for a long or double. */
  private static Object[] listed(List<Object> slots) {
    List<Object> types = new ArrayList<>();
    for (int i = 0; i < slots.size(); i++) {
      Object type = slots.get(i);
      types.add(type);
      if (type == Opcodes.LONG || type == Opcodes.DOUBLE) i++;
    }
    return types.toArray();
  }

  /** The types at a jump's targets. */
  private final class Frame {
    private final Object[] atLocals = listed(locals);
    private final Object[] atStack = listed(stack);

    void here() {
      InstructionProbes.super.visitFrame(
          Opcodes.F_NEW, atLocals.length, atLocals, atStack.length, atStack);
    }
  }

  private void hit(int id) {
    super.visitLdcInsn(id);
    super.visitMethodInsn(Opcodes.INVOKESTATIC, "agents/Lines", "hit", "(I)V", false);
  }

  private void instruction() {
    hit(Lines.instruction(method, line));
  }

  /** Counts a jump to the label, and goes on to the target. */
  private void outcome(Label way, Frame frame, Label target) {
    super.visitLabel(way);
    frame.here();
    hit(Lines.outcome(method, line));
    super.visitInsn(Opcodes.NOP);
    super.visitJumpInsn(Opcodes.GOTO, target);
  }

  @Override
  public void visitLineNumber(int number, Label start) {
    super.visitLineNumber(number, start);
    line = number;
  }

  @Override
  public void visitInsn(int opcode) {
    instruction();
    super.visitInsn(opcode);
  }

  @Override
  public void visitIntInsn(int opcode, int operand) {
    instruction();
    super.visitIntInsn(opcode, operand);
  }

  @Override
  public void visitVarInsn(int opcode, int variable) {
    instruction();
    super.visitVarInsn(opcode, variable);
  }

  @Override
  public void visitTypeInsn(int opcode, String type) {
    // Frames name a `new` by its label, which is already placed. One that throws is not counted.
    if (opcode != Opcodes.NEW) instruction();
    super.visitTypeInsn(opcode, type);
    if (opcode == Opcodes.NEW) instruction();
  }

  @Override
  public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
    instruction();
    super.visitFieldInsn(opcode, owner, name, descriptor);
  }

  @Override
  public void visitMethodInsn(
      int opcode, String owner, String name, String descriptor, boolean isInterface) {
    instruction();
    super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
  }

  @Override
  public void visitInvokeDynamicInsn(
      String name, String descriptor, Handle bootstrap, Object... arguments) {
    instruction();
    super.visitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
  }

  @Override
  public void visitLdcInsn(Object value) {
    instruction();
    super.visitLdcInsn(value);
  }

  @Override
  public void visitIincInsn(int variable, int increment) {
    instruction();
    super.visitIincInsn(variable, increment);
  }

  @Override
  public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
    instruction();
    super.visitMultiANewArrayInsn(descriptor, dimensions);
  }

  @Override
  public void visitJumpInsn(int opcode, Label label) {
    instruction();
    if (opcode == Opcodes.GOTO || opcode == Opcodes.JSR) {
      super.visitJumpInsn(opcode, label);
      return;
    }
    Label taken = new Label();
    Label after = new Label();
    super.visitJumpInsn(opcode, taken);
    Frame frame = new Frame();
    hit(Lines.outcome(method, line));
    super.visitJumpInsn(Opcodes.GOTO, after);
    outcome(taken, frame, label);
    super.visitLabel(after);
    frame.here();
    // The next instruction may have a frame of its own.
    super.visitInsn(Opcodes.NOP);
  }

  /** Each target of a switch once, by a label of its own. */
  private Label[] viaOutcomes(Label other, Label[] labels, Map<Label, Label> ways) {
    ways.computeIfAbsent(other, unseen -> new Label());
    Label[] replaced = new Label[labels.length];
    for (int i = 0; i < labels.length; i++) {
      replaced[i] = ways.computeIfAbsent(labels[i], unseen -> new Label());
    }
    return replaced;
  }


  @Override
  public void visitTableSwitchInsn(int least, int greatest, Label other, Label... labels) {
    instruction();
    Map<Label, Label> ways = new LinkedHashMap<>();
    Label[] replaced = viaOutcomes(other, labels, ways);
    // The types after the switch, which takes its operand.
    stack.remove(stack.size() - 1);
    Frame frame = new Frame();
    stack.add(Opcodes.INTEGER);
    super.visitTableSwitchInsn(least, greatest, ways.get(other), replaced);
    ways.forEach((target, way) -> outcome(way, frame, target));
  }

  @Override
  public void visitLookupSwitchInsn(Label other, int[] keys, Label[] labels) {
    instruction();
    Map<Label, Label> ways = new LinkedHashMap<>();
    Label[] replaced = viaOutcomes(other, labels, ways);
    stack.remove(stack.size() - 1);
    Frame frame = new Frame();
    stack.add(Opcodes.INTEGER);
    super.visitLookupSwitchInsn(ways.get(other), keys, replaced);
    ways.forEach((target, way) -> outcome(way, frame, target));
  }
}
